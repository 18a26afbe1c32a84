package timecalc

import "time"

// NextEdge returns the next instant after now at which a window starts or ends, clock changes included: what
// NextBoundary returns if that is within 24 hours. It is zero if there is none in the next 31 days.
func (c *Calendar) NextEdge(now time.Time) time.Time {
	local := now.In(c.Zone)
	for range longestSearch {
		if edge := edgeWithinADay(c.Windows, local, spanOf(local)); edge != never {
			return instant(edge, local)
		}
		local = local.Add(secondsPerDay * time.Second)
	}
	return time.Time{}
}

// Forecast is what the count does from a given time on, besides what the Calendar says.
type Forecast struct {
	// Effective is the count in force, and GraceExpiry when the grace period that keeps it ends, nil without one.
	Effective    int32
	GraceExpiry  *time.Time
	GraceSeconds int32
	// Count is the count that a verdict means for the target; known is false if something else, such as a
	// metric, decides it.
	Count func(Verdict) (replicas int32, known bool)
}

// Change is a change of the count. Known is false if it is not known to what.
type Change struct {
	Time     time.Time // in Zone
	Replicas int32
	Known    bool
}

// NextChange returns when the count next changes after now, and to what, through grace periods and holidays.
// Where something else decides the count, it returns when that begins or ends. found is false if there is no
// change in the next 31 days.
func (c *Calendar) NextChange(now time.Time, f Forecast) (change Change, found bool) {
	effective, expiry := f.Effective, f.GraceExpiry
	_, known := f.Count(c.At(now))
	last := now.Add(longestSearch * secondsPerDay * time.Second)
	for t := c.NextWakeUp(now, expiry); !t.After(last); t = c.NextWakeUp(t, expiry) {
		replicas, nowKnown := f.Count(c.At(t))
		if !nowKnown {
			if known {
				return Change{Time: t}, true
			}
			expiry = nil // whatever decides may end it at any time
			continue
		}
		if !known {
			expiry = nil
		}
		before := effective
		effective, expiry = ApplyGracePeriod(effective, replicas, f.GraceSeconds, expiry, t)
		if effective != before || !known && expiry == nil {
			return Change{Time: t, Replicas: effective, Known: true}, true
		}
		known = true
	}
	return Change{}, false
}
