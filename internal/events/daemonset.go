package events

import "fmt"

// A DaemonSet has no replicas; its events say whether it is suspended or runs. Their reasons are those
// of any other target, with suspending as scaling down.

// EmitSwitch makes the event for suspending a DaemonSet, or for letting it run again.
func EmitSwitch(suspend bool, cause Cause) Event {
	if suspend {
		return turned(ReasonScaledDown, "Suspend", "DaemonSet suspended", cause)
	}
	return turned(ReasonScaledUp, "Resume", "DaemonSet resumed", cause)
}

// turned makes the event for a target without a count; done says what was done to it.
func turned(reason, action, done string, cause Cause) Event {
	if cause.Drift {
		return normal(reason, action+"CorrectingDrift", fmt.Sprintf("Corrected manual drift: %s %s", done, cause))
	}
	return normal(reason, action, fmt.Sprintf("%s %s", done, cause))
}

// EmitSwitchSkipped is EmitScalingSkipped for a DaemonSet; current and desired are its states in a word.
func EmitSwitchSkipped(current, desired, why string) Event {
	return normal(ReasonScalingSkipped, "SkipSwitch",
		fmt.Sprintf("Scaling skipped due to %s: current=%s, desired=%s", why, current, desired))
}

// EmitSuspensionHeld is EmitGracePeriodStarted for a DaemonSet.
func EmitSuspensionHeld(seconds int32) Event {
	return normal(ReasonGracePeriodStarted, "HoldBeforeSuspension",
		fmt.Sprintf("Grace period started: %ds before the DaemonSet is suspended", seconds))
}

// EmitSuspensionCancelled is EmitGracePeriodCancelled for a DaemonSet.
func EmitSuspensionCancelled() Event {
	return normal(ReasonGracePeriodCancelled, "KeepRunning", "Grace period cancelled: the DaemonSet keeps running")
}
