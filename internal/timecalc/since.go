package timecalc

import "time"

// longestSearch is how far Since looks back, in days: further than a holiday of some weeks.
const longestSearch = 31

// Since returns the edge that now's verdict goes back to: the last instant, not after now, at which
// another window, an open holiday or the time between windows took over. It is zero if nothing did so
// for 31 days, as with a window that never ends. The result is in Zone.
func (c *Calendar) Since(now time.Time) time.Time {
	local := now.In(c.Zone)
	const day = secondsPerDay * time.Second
	for back := time.Duration(1); back <= longestSearch; back++ {
		if edge := c.lastEdge(local.Add(-back*day), local.Add((1-back)*day)); !edge.IsZero() {
			return edge
		}
	}
	return time.Time{}
}

// lastEdge returns the last edge after from and up to until, or zero.
func (c *Calendar) lastEdge(from, until time.Time) (edge time.Time) {
	before := c.decider(from)
	for t := c.NextWakeUp(from, nil); !t.After(until); t = c.NextWakeUp(t, nil) {
		after := c.decider(t)
		if after != before {
			edge = t
		}
		before = after
	}
	return edge
}

// decider is what Label names at an instant, as a number: the index of a window, -1 for OffHours, also
// on a closed holiday, and -2 for an open one.
func (c *Calendar) decider(t time.Time) int {
	v := c.At(t)
	if v.Override && c.HolidayMode == HolidayOpen {
		return -2
	}
	return v.Window
}
