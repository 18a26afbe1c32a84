// Package ruleset checks a set of manifests: how an API server with Kyklos would respond if they were applied in
// order, and where they conflict with each other.
//
// The rules of Kyklos's webhooks are those of package admission. An inventory, the objects of the set and those
// of the cluster if one is given, takes the place of the API server from which admission reads its facts. Objects
// in neither place may exist if no cluster is given, so that nothing is reported about them.
package ruleset
