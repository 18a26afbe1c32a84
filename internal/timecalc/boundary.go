package timecalc

import (
	"math"
	"time"
)

// ComputeNextBoundary returns the earliest instant strictly after localTime at which a window starts
// or ends, that is, at which the coverage of at least one window changes, clock changes included
// (seed 004, T4). Windows that abut, or that ask for the same replicas, still have their boundaries.
// With none in the next 24 hours it returns the first instant of the next local date. It never
// returns more than localTime + 24 h, and always in localTime's Location.
func ComputeNextBoundary(windows []TimeWindow, localTime time.Time) time.Time {
	limit := localTime.Unix() + secondsPerDay
	for at := localTime; ; {
		// Inside one span of constant offset, wall time and instants differ by a constant (T3).
		_, offset := at.Zone()
		from, spanEnd := at.Unix(), endOfSpan(at)
		next := from + nextEdge(windows, from+int64(offset))
		if next < spanEnd && next <= limit {
			return instant(next, localTime)
		}
		if spanEnd > limit {
			return nextDateWithin24h(localTime)
		}
		after := instant(spanEnd, localTime)
		if coverageDiffers(windows, spanEnd-1+int64(offset), wallSeconds(after)) {
			return after
		}
		at = after
	}
}

// nextEdge returns how many seconds after the given wall time the next start or end of a window comes,
// on a clock that runs straight on. It looks at that day and the next, which is as far as any caller
// may go, and returns a huge number when there is none.
func nextEdge(windows []TimeWindow, wall int64) int64 {
	day, second := splitDay(wall)
	today := maskOf(day)
	tomorrow := today.next()
	nearest := int64(math.MaxInt32)
	for i := range windows {
		w := &windows[i]
		nearest = min(nearest,
			untilEdge(int64(w.start)*60-second, w.days, today, tomorrow),
			untilEdge(int64(w.end)*60-second, w.endDays, today, tomorrow))
	}
	return nearest
}

// untilEdge returns the seconds to an edge that lies ahead seconds away on each of days: today if it
// is still to come, or tomorrow.
func untilEdge(ahead int64, days, today, tomorrow dayMask) int64 {
	if ahead > 0 && days&today != 0 {
		return ahead
	}
	if days&tomorrow != 0 {
		return ahead + secondsPerDay
	}
	return math.MaxInt32
}

// coverageDiffers reports whether any window covers just one of two wall times. At the end of a span
// this finds the edges that a skipped hour swallowed, and the windows that a repeated hour reopens.
func coverageDiffers(windows []TimeWindow, before, after int64) bool {
	b, a := momentAt(before), momentAt(after)
	for _, w := range windows {
		if w.covers(b) != w.covers(a) {
			return true
		}
	}
	return false
}

// NextDate returns the first instant after localTime whose local civil date is another one. That is
// midnight, or what a clock change makes of it: later where midnight is skipped or repeated, and the
// date may also fall back by a day or leave one out.
func NextDate(localTime time.Time) time.Time {
	today, _ := splitDay(wallSeconds(localTime))
	for at := localTime; ; {
		_, offset := at.Zone()
		midnight, spanEnd := (today+1)*secondsPerDay-int64(offset), endOfSpan(at)
		if midnight < spanEnd {
			return instant(midnight, localTime)
		}
		at = instant(spanEnd, localTime)
		if day, _ := splitDay(wallSeconds(at)); day != today {
			return at
		}
	}
}

// nextDateWithin24h is NextDate, cut at 24 h for the days that are longer (T4).
func nextDateWithin24h(localTime time.Time) time.Time {
	date, limit := NextDate(localTime), localTime.Round(0).Add(secondsPerDay*time.Second)
	if date.After(limit) {
		return limit
	}
	return date
}

// endOfSpan returns the Unix time at which t's zone next changes its offset or abbreviation.
func endOfSpan(t time.Time) int64 {
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return math.MaxInt64
	}
	return end.Unix()
}

// instant returns Unix time sec in the Location of like.
func instant(sec int64, like time.Time) time.Time {
	return time.Unix(sec, 0).In(like.Location())
}
