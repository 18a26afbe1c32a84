package lifecycle

import "time"

// IdleInput is what the idle timers are based on. A TTL of 0 disables a timer.
type IdleInput struct {
	Now     time.Time
	Desired State
	Status  Status
	// Limit is the time limit of an attempt of the operation in progress.
	Limit                     time.Duration
	Pause, Deleting, HasStore bool
	StandbyTTL, ArchiveTTL    time.Duration
	// Use is whether the Workspace is in use, as far as its Pod tells. Heartbeats: there is a Lease.
	Use        Use
	Heartbeats bool
	// LastActivity is the last use or heartbeat; zero if there was none.
	LastActivity time.Time
}

// IdleDecision is what the idle timers request.
type IdleDecision struct {
	// Desired is to be written in place of the desired state that was read; "" if nothing is.
	Desired State
	// DueAt is when the next timer expires without further activity; zero if none is running.
	DueAt time.Time
	// Untold: the Workspace runs, and nothing tells whether it is used. So no timer runs.
	Untold bool
}

// DecideIdle lowers the desired state of an unused Workspace by one level (W47, D15). The timer of a running Workspace starts
// with its start or its last activity, whichever is later, so that a fresh start is never idle; the timer of the archive
// starts with STANDBY likewise. A Workspace that is in use is not idle, and one of which nothing tells that is not either
// (W80). It never raises the state, and ignores Workspaces that are changing, unless they fail to (W73), in ERROR, paused or
// being deleted.
func DecideIdle(in IdleInput) IdleDecision {
	switch {
	case in.Pause || in.Deleting:
		return IdleDecision{}
	case in.runs() && in.Use == InUse:
		return IdleDecision{}
	case in.runs() && in.Use == Untold && !in.Heartbeats:
		return IdleDecision{Untold: in.StandbyTTL > 0}
	case in.Desired == Running:
		return in.after(in.Since(), in.StandbyTTL, Standby)
	case in.Desired == Standby && in.HasStore:
		return in.after(in.Since(), in.ArchiveTTL, Pending)
	default:
		return IdleDecision{}
	}
}

// runs reports whether the Workspace runs, as desired.
func (in IdleInput) runs() bool {
	return in.Desired == Running && in.Status.Phase == Running && in.Status.Operation.Type == None
}

// Since is when the Workspace reached its desired state or, if it fails to, when its first attempt must have ended: it costs
// something, too (W73). Zero if it is changing, or in ERROR.
func (in IdleInput) Since() time.Time {
	switch phase, operation := in.Status.Phase, in.Status.Operation; {
	case operation.Failing() && phase.Level() >= 0 && phase.Level() < in.Desired.Level():
		return operation.StartedAt.Add(in.Limit)
	case operation.Type != None || phase != in.Desired:
		return time.Time{}
	case in.Desired == Running:
		return in.Status.RunningSince
	default:
		return in.Status.StandbySince
	}
}

// after lowers to a state once the TTL has passed since the later of since and the last activity. If since is unknown,
// nothing is idle.
func (in IdleInput) after(since time.Time, ttl time.Duration, to State) IdleDecision {
	if since.IsZero() || ttl <= 0 {
		return IdleDecision{}
	}
	if in.LastActivity.After(since) {
		since = in.LastActivity
	}
	if due := since.Add(ttl); in.Now.Before(due) {
		return IdleDecision{DueAt: due}
	}
	return IdleDecision{Desired: to}
}
