// Package workspace brings Workspaces to their desired state. internal/lifecycle decides what to do. One call of Reconcile is
// one pass:
//
//	observe   all reads: the Workspace, its Pod, volume and movers, from the caches
//	serve     read and write its Service, on which nothing else depends
//	plan      ask the engine; on its request observe the API server itself or all Pods, or ask the object store
//	act       execute the decision, unless it is a new status
//	report    pure: the status, events and metrics; the status is written, then events and metrics are published
//
// A pass never waits for what it started: completion is what a later pass observes. Apart from its status and its finalizer,
// the Workspace is never written (W2).
package workspace
