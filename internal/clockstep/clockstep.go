// Package clockstep copes with a wall clock that is wrong: it detects steps, and keeps stored times from the
// future from delaying anything.
package clockstep

import "time"

// Detector compares a wall clock with a monotonic clock, which steps do not affect. Its first reading is what
// later ones are compared with.
type Detector struct {
	// Tolerance is how far the clocks may drift apart, at once or gradually.
	Tolerance time.Duration

	started   bool
	wall      time.Time
	monotonic time.Duration
}

// Step returns by how much the wall clock was stepped, or the machine slept, since the last step that was
// returned; negative for a clock that was set back, 0 within the tolerance.
func (d *Detector) Step(wall time.Time, monotonic time.Duration) time.Duration {
	wall = wall.Round(0) // compare wall clock readings only
	step := wall.Sub(d.wall) - (monotonic - d.monotonic)
	switch {
	case !d.started:
		step, d.started = 0, true
	case step.Abs() <= d.Tolerance:
		return 0
	}
	d.wall, d.monotonic = wall, monotonic
	return step
}

// FutureTime remembers when a time was found to be in the future. The writer's clock was ahead, or ours is behind.
// If that lasts, the time counts from when it was found: it would otherwise count only when the clock gets there.
type FutureTime struct {
	time, found time.Time
}

// AtMost returns t, or if t is after now, since when this is known.
func (f *FutureTime) AtMost(t, now time.Time) time.Time {
	if !t.After(now) {
		*f = FutureTime{}
		return t
	}
	if !f.time.Equal(t) || f.found.After(now) {
		*f = FutureTime{t, now}
	}
	return f.found
}

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}
