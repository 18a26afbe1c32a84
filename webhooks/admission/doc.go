// Package admission judges TimeWindowScalers and Workspaces while they are written: a defaulting and a
// validating webhook for each.
//
// Each rule lives once, at the earliest place that can hold it (A3). The CRD's schema and its CEL
// rules refuse what can be seen in the object alone; they hold with these webhooks down. Here is what
// needs other objects (one owner per target, B8), the cluster (does the target's kind exist, can it be
// scaled) or the object's own namespace, and warnings about schedules that are legal and yet may not do
// what their author expects. A warning never refuses.
//
// Files named *_rules.go are pure: (new, old, path, facts) to errors or warnings. Facts hold what
// other objects say; the present is an argument. They accept objects that CEL would have refused, as
// programs without an API server use them too. timewindowscaler.go and workspace.go are the edge to the
// API server.
//
// A rule that an object already broke before an update does not refuse that update; it becomes a
// warning. Otherwise a conflict that arose while the webhook was away would block every later edit,
// the one that resolves it included.
package admission
