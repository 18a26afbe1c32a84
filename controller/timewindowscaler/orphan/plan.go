package orphan

import (
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	// grace is how long a scaler must be gone. Tools that replace an object delete it first.
	grace = 10 * time.Second
	// markInterval is how long Kyklos leaves an annotation alone that somebody else has changed after it.
	markInterval = time.Minute
)

// observation is what a decision about one DaemonSet depends on.
type observation struct {
	now time.Time
	// suspended: it has the key that Kyklos suspends it with. marked: it has the annotation.
	suspended, marked bool
	// scaler is the one that owns it; nil without any.
	scaler *v1beta1.TimeWindowScaler
	memory
}

// memory is what is remembered of a DaemonSet from pass to pass.
type memory struct {
	// goneSince is when it was first seen suspended without a scaler; zero if it has one.
	goneSince time.Time
	// resumes: its last scaler wanted it resumed. Somebody may have taken the annotation away that says so.
	resumes bool
	// wrote is the last step that wrote the annotation or removed it, at wroteAt.
	wrote   step
	wroteAt time.Time
}

// step is what to do about a DaemonSet.
type step string

const (
	nothing step = "nothing"
	mark    step = "mark"
	unmark  step = "unmark"
	resume  step = "resume"
	report  step = "report"
)

// plan returns what to do, and when to look again; 0 is not before something changes.
func plan(o observation) (step, time.Duration) {
	wanted := o.scaler != nil && o.resumes
	orphaned := o.scaler == nil && o.suspended
	switch {
	case orphaned && o.left(o.goneSince, grace) > 0:
		return nothing, o.left(o.goneSince, grace)
	case orphaned && (o.marked || o.resumes):
		return resume, 0
	case orphaned:
		return report, 0
	case o.marked == wanted:
		return nothing, 0
	}
	next := unmark
	if wanted {
		next = mark
	}
	if left := o.left(o.wroteAt, markInterval); next == o.wrote && left > 0 { // somebody else has changed it since
		return nothing, left
	}
	return next, 0
}

// after returns the memory after a step.
func (m memory) after(done step, now time.Time) memory {
	switch done {
	case mark:
		m.wrote, m.wroteAt = mark, now
	case unmark, resume: // which removes the annotation too
		m.wrote, m.wroteAt = unmark, now
	}
	return m
}

// left is how much of the time after since is left. A clock that was set back ends it.
func (o *observation) left(since time.Time, length time.Duration) time.Duration {
	if since.IsZero() || since.After(o.now) {
		return 0
	}
	return length - o.now.Sub(since)
}
