package events

import (
	"fmt"
	"time"
)

// ReasonWorkspaceIdle is the reason of events on a Workspace that nobody uses.
const ReasonWorkspaceIdle = "WorkspaceIdle"

// EmitWorkspaceIdle says that spec.desiredState was lowered to STANDBY or PENDING: since when the Workspace is in
// the state that it leaves, when it was last heard of (zero for never), how long that may last, and
// what becomes of the home.
func EmitWorkspaceIdle(to string, since, last time.Time, ttl time.Duration) Event {
	was, field, home := "running", "standbyTTLSeconds", "the home stays on its volume; set spec.desiredState to RUNNING to go on"
	if to == "PENDING" {
		was, field = "in STANDBY", "archiveTTLSeconds"
		home = "the home is archived and its volume then deleted; set spec.desiredState to RUNNING to have it back"
	}
	unheard := fmt.Sprintf("No heartbeat since %s", last.UTC().Format(time.RFC3339))
	if !last.After(since) {
		unheard = fmt.Sprintf("No heartbeat since it is %s (%s)", was, since.UTC().Format(time.RFC3339))
	}
	return normal(ReasonWorkspaceIdle, "LowerTo"+to,
		fmt.Sprintf("%s, and spec.%s is %d: spec.desiredState becomes %s; %s", unheard, field, int64(ttl/time.Second), to, home))
}
