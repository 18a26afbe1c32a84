package lifecycle

// Applied is the state that a TimeWindowScaler last requested for a Workspace, and at which edge.
type Applied struct {
	State State
	// Edge names the instance of the window, or of the time between windows, such as its start.
	Edge string
}

// EdgeInput is what a schedule's decision about a Workspace is based on.
type EdgeInput struct {
	// Replicas is the schedule's count now, its grace period included; Edge names the instance of the
	// window that gives it.
	Replicas int32
	Edge     string
	// Applied is what was asked for last; the zero value if nothing was yet.
	Applied Applied
	// Desired is the Workspace's desired state as it was read.
	Desired State
	Pause   bool
	// KeepArchived: a window does not restore an archived home.
	KeepArchived bool
	// Enforce: changes by others between edges are reverted.
	Enforce bool
	// InUse: somebody uses the Workspace. StopWhileInUse: it is stopped all the same.
	InUse, StopWhileInUse bool
}

// EdgeDecision is what a schedule requests for a Workspace.
type EdgeDecision struct {
	// Write: State is to be written in place of the desired state that was read.
	Write bool
	State State
	// Applied is to be remembered after that.
	Applied Applied
	// Waits: the Workspace is to be stopped as soon as nobody uses it.
	Waits bool
}

// DecideEdge requests RUNNING in a window and STANDBY outside, never PENDING: only the idle timer archives. It does so once
// per edge and compares states, so that a missed edge is caught up. Between edges, a user or an idle timer that decides
// otherwise wins. The end of a window does not restore an archived home, and waits for a Workspace that is in use (W82).
func DecideEdge(in EdgeInput) EdgeDecision {
	wanted := Standby
	if in.Replicas >= 1 {
		wanted = Running
	}
	now := Applied{State: wanted, Edge: in.Edge}
	if in.Pause || in.Applied == now && !in.Enforce {
		return EdgeDecision{State: in.Desired, Applied: in.Applied}
	}
	if wanted == Standby && in.Desired == Running && in.InUse && !in.StopWhileInUse && in.Applied != now {
		return EdgeDecision{State: Running, Applied: in.Applied, Waits: true}
	}
	archived := in.Desired == Pending && (wanted == Standby || in.KeepArchived)
	if archived || in.Desired == wanted {
		return EdgeDecision{State: in.Desired, Applied: now}
	}
	return EdgeDecision{Write: true, State: wanted, Applied: now}
}
