package events

import "fmt"

// A Workspace has no replicas but a desired state; its events name the states. Their reasons are those of
// any other target, with stopping as scaling down.

// EmitDesired makes the event for asking a Workspace for another state than the one it was to be in.
// starts says whether that is to start it.
func EmitDesired(from, to string, starts bool, cause Cause) Event {
	done := fmt.Sprintf("Workspace set from %s to %s", from, to)
	if starts {
		return turned(ReasonScaledUp, "Start", done, cause)
	}
	return turned(ReasonScaledDown, "Stop", done, cause)
}

// EmitDesiredSkipped is EmitScalingSkipped for a Workspace; current and desired are states.
func EmitDesiredSkipped(current, desired, why string) Event {
	return normal(ReasonScalingSkipped, "SkipDesiredState",
		fmt.Sprintf("Scaling skipped due to %s: current=%s, desired=%s", why, current, desired))
}

// EmitStopHeld is EmitGracePeriodStarted for a Workspace.
func EmitStopHeld(seconds int32) Event {
	return normal(ReasonGracePeriodStarted, "HoldBeforeStop",
		fmt.Sprintf("Grace period started: %ds before the Workspace is stopped", seconds))
}

// EmitStopCancelled is EmitGracePeriodCancelled for a Workspace.
func EmitStopCancelled() Event {
	return normal(ReasonGracePeriodCancelled, "KeepStarted", "Grace period cancelled: the Workspace is not stopped")
}
