// Package policy evaluates ValidatingAdmissionPolicies given as manifests, with the API server's own compiler,
// evaluator and matching, and without an API server.
//
// A warning about each affected object reports what is only known in a cluster: permissions (authorizer), labels of
// Namespaces that are not in the manifests, and the API server's defaults for built-in kinds. The user of all
// requests is kyklos-lint, in the group system:authenticated only.
package policy
