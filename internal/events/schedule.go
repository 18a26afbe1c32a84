package events

import (
	"fmt"
	"time"
)

// The reasons of events on a Workspace about the schedule that controls it. StopWaits is one of the schedule, too.
const (
	ReasonStopScheduled = "StopScheduled"
	ReasonStopWaits     = "StopWaits"
	ReasonSetBySchedule = "SetBySchedule"
)

// EmitStopScheduled announces that a schedule will stop a Workspace. strict: even if somebody uses it.
func EmitStopScheduled(schedule string, at time.Time, strict bool) Event {
	how := "it stays while somebody uses it"
	if strict {
		how = "even if somebody uses it, because spec.workspace.stopWhileInUse is true there"
	}
	return normal(ReasonStopScheduled, "AnnounceStop", fmt.Sprintf("TimeWindowScaler %s stops this Workspace at %s: %s", schedule, stamp(at), how))
}

// EmitStopWaits says that a Workspace in use stays after the end of its window, at; empty if that is not known.
func EmitStopWaits(schedule, workspace, at string) Event {
	end := "the end of a window"
	if at != "" {
		end = at
	}
	return normal(ReasonStopWaits, "AwaitIdle",
		fmt.Sprintf("Workspace %s is in use and stays past %s, when TimeWindowScaler %s would stop it; it is stopped when nobody uses it", workspace, end, schedule))
}

// EmitSetBySchedule says that a schedule has set the desired state of a Workspace. cause is what decides.
func EmitSetBySchedule(schedule, from, to, cause string) Event {
	return normal(ReasonSetBySchedule, "Set"+to, fmt.Sprintf("TimeWindowScaler %s set spec.desiredState from %s to %s (%s)", schedule, from, to, cause))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
