// Package lint says about manifests what the API server with Kyklos would say, without either: what it refuses and what it warns of, and
// beyond it what the manifests of one set do to each other.
package lint
