// Package objects builds the objects of a Workspace, its volume, Pod, Jobs, tickets and Service, and reads from them which Workspace they belong to and
// what they were created for. It is pure.
//
// All Pods comply with the restricted Pod Security Standard and get no ServiceAccount token.
//
// The Workspace is the controller of the Pod, the Jobs, the tickets and the Service, which are deleted with it. The volume has no owner and is
// identified by its labels: if a Workspace is deleted in the foreground, as Argo CD does it, its dependents are deleted first, and
// the home would be gone before it could be archived or kept. The finalizer handles its deletion instead.
package objects
