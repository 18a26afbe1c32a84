// Package policy judges objects by ValidatingAdmissionPolicies that are given as manifests, with the API server's own compiler,
// evaluator and matching, and without an API server.
//
// What only a cluster knows stays unknown, and is said as a warning about each object that it concerns: what a user may do (authorizer),
// labels of Namespaces that are not among the manifests, and the API server's defaults for built-in kinds. The user of a request is
// nobody in particular: kyklos-lint, of the group system:authenticated alone.
package policy
