// Package objects makes the objects of a Workspace, its volume, Pod, Jobs and tickets, and reads back
// from them whose they are and what they were made for. It is pure: it asks nobody.
//
// All Pods keep the restricted Pod Security Standard and get no ServiceAccount token.
//
// Pod, Job and ticket have the Workspace as their controller, and go with it. The volume has no owner at
// all, and is told by its labels: a Workspace that is deleted in the foreground, as Argo CD does it, has
// its dependents deleted before itself, and the home would be gone before it could be archived or kept.
// The finalizer sees to its deletion instead.
package objects
