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
	// noticed is the longest time until the kubelet notices that nobody uses a Workspace any more.
	noticed = 2 * time.Minute
)

// UseLasts is how long a use counts: a Workspace that nobody has used for this time is idle. It is the time after which an
// idle one is stopped, but at most five minutes, since the end of a window waits for it, too.
func UseLasts(standbyTTL time.Duration) time.Duration {
	if standbyTTL <= 0 {
		return longestUse
	}
	return min(standbyTTL, longestUse)
}

// Watcher is the container that watches whether the Workspace is used, as the kubelet reports it. It is ready from its start
// on, until nobody has used the Workspace for a time.
type Watcher struct {
	Exists, Runs, Ready bool
	// NothingListens: it has said that nothing listens on the ports. Then nobody can be connected, and that says nothing.
	NothingListens bool
	// StartedAt is when it started; zero if it does not run.
	StartedAt time.Time
	// Lasts is how long a use counts.
	Lasts time.Duration
	// UnreadySince is when it became unready; zero if that is not known.
	UnreadySince time.Time
}

// Activity is what is known of the use of a Workspace.
type Activity struct {
	Use Use
	// Last is when it was last used, or when the use that lasts was noticed; zero for never.
	Last time.Time
}

// Next returns what is known at now, from what was known before. A watcher that does not run, or has just started, tells
// nothing new: the kubelet has not asked it yet. A start is no use, by which a schedule would keep what it starts in use (W96).
func (w Watcher) Next(before Activity, now time.Time) Activity {
	next := before
	switch {
	case !w.Exists || w.NothingListens:
		next.Use = Untold
	case w.Runs && w.Ready, before.Use == Untold && w.silent(now): // a fresh start is never idle (D15)
		next.Use = InUse
		if noted := before.Use == InUse && !before.Last.Before(w.StartedAt); !noted && w.seen(now) && now.After(next.Last) {
			next.Last = now
		}
	case w.silent(now):
	default:
		next.Use = Idle
		if ended := w.ended(now); before.Use != Idle && ended.After(next.Last) && ended.After(w.StartedAt.Add(noticed)) {
			next.Last = ended
		}
	}
	return next
}

// silent reports whether it does not run, or has just started.
func (w Watcher) silent(now time.Time) bool {
	return !w.Runs || now.Before(w.StartedAt.Add(w.Lasts))
}

// seen reports whether one that is ready was used: otherwise it would be unready by now, and the kubelet would know.
func (w Watcher) seen(now time.Time) bool {
	return !w.silent(now) && !now.Before(w.StartedAt.Add(w.Lasts+noticed))
}

// Unused returns since when it can be seen whether a Workspace is used, if it never was; before is what was known, and next what is known of
// its use now. Where nothing tells, it may be used: then it is zero (W109).
func (w Watcher) Unused(before time.Time, next Activity) time.Time {
	switch {
	case next.Use == Untold || !next.Last.IsZero():
		return time.Time{}
	case next.Use == Idle && before.IsZero():
		return w.StartedAt
	}
	return before
}

// ended is when the last use ended.
func (w Watcher) ended(now time.Time) time.Time {
	if w.UnreadySince.IsZero() || w.UnreadySince.After(now) {
		return now.Add(-w.Lasts)
	}
	return w.UnreadySince.Add(-w.Lasts)
}
