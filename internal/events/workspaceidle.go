package events

import (
	"fmt"
	"time"
)

// ReasonWorkspaceIdle is the reason of events on an idle Workspace.
const ReasonWorkspaceIdle = "WorkspaceIdle"

// EmitWorkspaceIdle reports that spec.desiredState was lowered to STANDBY or PENDING. since is when the Workspace entered the
// state that it leaves or, if it never did, when it should have; last is the last use or heartbeat, zero for none.
func EmitWorkspaceIdle(to string, entered bool, since, last time.Time, ttl time.Duration) Event {
	was, field, home := "RUNNING", "standbyTTLSeconds", "the home stays on its volume; set spec.desiredState to RUNNING to continue"
	if to == "PENDING" {
		was, field = "STANDBY", "archiveTTLSeconds"
		home = "the home is archived and its volume then deleted; set spec.desiredState to RUNNING to restore it"
	}
	how := "entered"
	if !entered {
		how = "should have entered"
	}
	silence := fmt.Sprintf("Not used since %s", last.UTC().Format(time.RFC3339))
	if !last.After(since) {
		silence = fmt.Sprintf("Not used since it %s %s (%s)", how, was, since.UTC().Format(time.RFC3339))
	}
	return normal(ReasonWorkspaceIdle, "LowerTo"+to,
		fmt.Sprintf("%s, and spec.%s is %d: spec.desiredState becomes %s; %s", silence, field, int64(ttl/time.Second), to, home))
}
