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
	from, s := localTime.Unix(), spanOf(localTime)
	limit := from + secondsPerDay
	today, _ := splitDay(from + s.offset)
	const unknown = math.MaxInt64
	date := int64(unknown) // the first instant of the next local date
	for {
		next := from + nextEdge(windows, from+s.offset)
		if next < s.end && next <= limit {
			return instant(next, localTime)
		}
		if midnight := s.midnightAfter(today); date == unknown && midnight < s.end {
			date = midnight
		}
		if s.end > limit {
			break
		}
		after := instant(s.end, localTime)
		following := spanOf(after)
		if coverageDiffers(windows, s.end-1+s.offset, s.end+following.offset) {
			return after
		}
		if day, _ := splitDay(s.end + following.offset); date == unknown && day != today {
			date = s.end
		}
		from, s = s.end, following
	}
	if date > limit {
		return localTime.Round(0).Add(secondsPerDay * time.Second)
	}
	return instant(date, localTime)
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
	s := spanOf(localTime)
	today, _ := splitDay(localTime.Unix() + s.offset)
	for {
		if midnight := s.midnightAfter(today); midnight < s.end {
			return instant(midnight, localTime)
		}
		after := instant(s.end, localTime)
		following := spanOf(after)
		if day, _ := splitDay(s.end + following.offset); day != today {
			return after
		}
		s = following
	}
}

// span is a piece of a zone's time in which wall time and instants differ by a constant (T3).
type span struct {
	offset int64 // seconds east of UTC
	end    int64 // Unix time of the first instant after the span
}

// spanOf returns the span in which t lies. It costs two look-ups in the zone's rules, which is most of
// what a boundary costs: the standard library has no call that gives both numbers.
func spanOf(t time.Time) span {
	_, offset := t.Zone()
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return span{offset: int64(offset), end: math.MaxInt64}
	}
	return span{offset: int64(offset), end: end.Unix()}
}

// midnightAfter returns the instant at which the given day would end if the span went on.
func (s span) midnightAfter(day int64) int64 { return (day+1)*secondsPerDay - s.offset }

// instant returns Unix time sec in the Location of like.
func instant(sec int64, like time.Time) time.Time {
	return time.Unix(sec, 0).In(like.Location())
}
