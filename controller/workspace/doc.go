// Package workspace brings Workspaces to their desired state. What is to be done is decided
// by internal/lifecycle; here is what surrounds it. One wake-up is one pass:
//
//	look      every read: the Workspace, its Pod, volume and movers, from the caches
//	decide    pure; it may ask for a closer look: the API server itself, all Pods, the object store
//	carry out that which was decided: one write of the status, or one action
//	publish   events and metrics, after the status was written
//
// A pass never waits for what it began: completion is what a later pass sees. The Workspace itself is
// only ever read, but for its status and its finalizer (W2).
package workspace
