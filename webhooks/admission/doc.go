// Package admission contains the defaulting and validating webhooks for TimeWindowScalers and Workspaces.
//
// Each rule is implemented once, at the earliest place possible (A3). The CRD schemas and their CEL rules
// refuse what is visible in the object alone, and work without the webhooks. The rules here need other
// objects (one TimeWindowScaler per target, B8), the cluster (whether the target's kind exists and can be
// scaled) or the object's own namespace, or they warn about schedules that are valid but may not do what
// their author expects. A warning never refuses an object.
//
// *_rules.go are pure: objects, Facts and the current time in, Findings out. They also accept objects that
// CEL would have refused, because kyklos lint calls them without an API server. *_facts.go read other
// objects. webhook.go, timewindowscaler.go and workspace.go connect both to the API server, and defaults.go
// fills in what no schema default can.
//
// A rule that the old object already broke only warns on update. Otherwise a conflict that arose while the
// webhook was down would block every later edit, including the one that resolves it.
package admission
