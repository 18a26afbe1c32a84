// Package judge says about the manifests of a set what the API server with Kyklos would say if they were
// applied in their order, and what they do to each other.
//
// Facts that the rules of Kyklos's webhooks ask for come from an inventory: the objects of the set, and
// behind them those of a cluster if one is given. The rules are the webhooks' own, and so is the code that
// gathers the facts; the inventory stands in for the API server. What is in neither place is unknown without
// a cluster, and nothing is said for want of it.
package ruleset
