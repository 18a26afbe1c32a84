package lifecycle

import "time"

// Use is whether a running Workspace is in use, as far as its Pod tells (W80).
type Use string

// The uses.
const (
	// Untold: nothing in the Pod tells.
	Untold Use = ""
	InUse  Use = "InUse"
	Idle   Use = "Idle"
)

const (
	// longestUse is the longest time for which a use counts.
	longestUse = 5 * time.Minute
	// certain is the time after its start by which a watcher has said that nobody uses the Workspace, if that is so from its start
	// on. Who is ready then, is used.
	certain = 12 * time.Minute
	// answers is the time after its start by which the kubelet has asked a watcher.
	answers = 3 * time.Minute
)

// UseLasts is how long a use counts: a Workspace that nobody has used for this time is idle. It is the time after which an
// idle one is stopped, but at most five minutes, since the end of a window waits for it, too.
func UseLasts(standbyTTL time.Duration) time.Duration {
	if standbyTTL <= 0 {
		return longestUse
	}
	return min(standbyTTL, longestUse)
}

// Watcher is the container that watches whether the Workspace is used, as the kubelet reports it. That nobody uses the Workspace is
// only what it has said, by the end of a run: it is unready then, until somebody does, but a node that is slow makes it unready,
// too (W104).
type Watcher struct {
	Exists, Runs, Ready bool
	// NothingListens: it has said that nothing listens on the ports. Then nobody can be connected, and that says nothing.
	NothingListens bool
	// Idle: it has said that nobody uses the Workspace, at SaidAt. LastUsed is when the last use ended; zero if its run had none.
	Idle             bool
	SaidAt, LastUsed time.Time
	// UsedSince: it was ready after it had said so. Unsure: that would not be seen, because another container is not ready.
	UsedSince, Unsure bool
	// Outdated: something counts as use by the spec that this Pod was not started to watch, or nothing does any more (W103).
	Outdated bool
	// StartedAt is when it started; zero if it does not run.
	StartedAt time.Time
	// Lasts is how long a use counts.
	Lasts time.Duration
}

// Activity is what is known of the use of a Workspace.
type Activity struct {
	Use Use
	// Last is when it was last used, or when the use that lasts was noticed; zero for never.
	Last time.Time
}

// Next returns what is known at now, from what was known before. A watcher that neither is ready nor has said that nobody uses the
// Workspace tells nothing new. What is not known counts as used. A start is no use, by which a schedule would keep what it starts
// in use (W96).
func (w Watcher) Next(before Activity, now time.Time) Activity {
	next := before
	switch {
	case !w.Exists || w.NothingListens:
		next.Use = Untold
	case w.Runs && w.Ready:
		next.Use = InUse
		noted := before.Use == InUse && (!before.Last.Before(w.StartedAt) || w.StartedAt.After(now))
		if used := w.Idle || !now.Before(w.StartedAt.Add(certain)); used && !noted && now.After(next.Last) {
			next.Last = now
		}
	case w.Idle && !w.usedAgain(before):
		next.Use = Idle
		if ended := w.ended(before, now); ended.After(next.Last) {
			next.Last = ended
		}
	case before.Use == Untold, w.Idle, w.Outdated: // a fresh start is never idle (D15)
		next.Use = InUse
	}
	if next.Use == Idle && w.Outdated {
		next.Use = Untold
	}
	return next
}

// Answers is false for a watcher that tells nothing, though it has had the time to.
func (w Watcher) Answers(now time.Time) bool {
	return w.Ready || w.Idle && !w.UsedSince || w.Runs && now.Before(w.StartedAt.Add(answers))
}

// usedAgain reports whether the Workspace was used after its watcher had said that nobody does.
func (w Watcher) usedAgain(before Activity) bool {
	return w.UsedSince || w.Unsure && before.Use == InUse && before.Last.After(w.SaidAt)
}

// ended is when the last use ended; zero for none. By a clock that is ahead it is only known that it has.
func (w Watcher) ended(before Activity, now time.Time) time.Time {
	switch {
	case !w.LastUsed.After(now):
		return w.LastUsed
	case before.Use == InUse:
		return now.Add(-w.Lasts)
	}
	return time.Time{}
}

// Unused returns since when it can be seen whether a Workspace is used, if it never was; before is what was known, and next what is known of
// its use now. Where nothing tells, it may be used: then it is zero (W109).
func (w Watcher) Unused(before time.Time, next Activity) time.Time {
	switch {
	case next.Use == Untold || !next.Last.IsZero():
		return time.Time{}
	case next.Use == Idle && before.IsZero():
		return w.SaidAt.Add(-w.Lasts)
	}
	return before
}
