package archivegc

import "time"

// mostDrift is by how much wall clock and monotonic clock may part, at once or by and by, before the wall clock
// counts as stepped. Two hours that are too short by this harm nobody.
const mostDrift = time.Minute

// clocks is what both clocks showed at one time; the zero value is no time.
type clocks struct {
	wall      time.Time
	monotonic time.Duration
}

// stepped reports whether the wall clock was stepped, or the machine slept, since it last did so: for how long
// nobody needed an archive is not known then. Of the time before its start a process knows nothing.
func (c *Collector) stepped() bool {
	if c.Monotonic == nil {
		return false
	}
	now := clocks{c.Clock.Now().Round(0), c.Monotonic()}
	if c.even.wall.IsZero() {
		c.even = now
	}
	drift := now.wall.Sub(c.even.wall) - (now.monotonic - c.even.monotonic)
	if drift.Abs() <= mostDrift {
		return false
	}
	c.even = now
	return true
}
