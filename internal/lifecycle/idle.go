package lifecycle

import "time"

// IdleInput is what the idle timers rest on. A TTL of 0 is none.
type IdleInput struct {
	Now                       time.Time
	Desired                   State
	Status                    Status
	Pause, Deleting, HasStore bool
	StandbyTTL, ArchiveTTL    time.Duration
	// LastActivity is the last heartbeat; zero if there never was one.
	LastActivity time.Time
}

// IdleDecision is what the idle timers ask for.
type IdleDecision struct {
	// Desired is to be written in place of the desired state that was read; "" if nothing is.
	Desired State
	// DueAt is when that may become so without further activity; zero if nothing runs out.
	DueAt time.Time
}

// DecideIdle lowers the desired state of a Workspace that nobody uses, by one level (W47, D15). The
// clock of a running one begins with its start or its last activity, whichever is later, so that a
// fresh start is never idle; that of the archive with the entry into STANDBY likewise. It never
// raises, and leaves alone what is under way, in ERROR, paused or deleted.
func DecideIdle(in IdleInput) IdleDecision {
	if in.Pause || in.Deleting || in.Status.Operation.Type != None || in.Status.Phase != in.Desired {
		return IdleDecision{}
	}
	switch {
	case in.Desired == Running:
		return in.after(in.Status.RunningSince, in.StandbyTTL, Standby)
	case in.Desired == Standby && in.HasStore:
		return in.after(in.Status.StandbySince, in.ArchiveTTL, Pending)
	default:
		return IdleDecision{}
	}
}

// after lowers to a state a TTL after the later of since and the last activity. Without knowing since
// when, nothing is idle.
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
