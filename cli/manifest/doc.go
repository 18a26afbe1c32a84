// Package manifest reads Kubernetes manifests from files, folders, standard input and Git revisions, as
// kubectl does, and remembers where in its file each field of an object stands.
package manifest
