package timecalc

import (
	"math"
	"time"
)

// never is the Unix time of what does not happen.
const never = math.MaxInt64

// ComputeNextBoundary returns the earliest instant strictly after localTime at which a window starts
// or ends, that is, at which the coverage of at least one window changes, clock changes included
// (T4). Windows that abut, or that ask for the same replicas, still have their boundaries.
// With none in the next 24 hours it returns the first instant of the next local date. It never
// returns more than localTime + 24 h, and always in localTime's Location. A window with a zone of its
// own starts and ends by the clock there; the local date is that of localTime's Location.
func ComputeNextBoundary(windows []TimeWindow, localTime time.Time) time.Time {
	return nextBoundary(windows, localTime, spanOf(localTime))
}

// nextBoundary is ComputeNextBoundary for a localTime that lies in the span home.
func nextBoundary(windows []TimeWindow, localTime time.Time, home span) time.Time {
	limit := localTime.Unix() + secondsPerDay
	next := edgeWithinADay(windows, localTime, home)
	if next == never {
		next = nextDate(localTime, home)
	}
	if next > limit {
		return localTime.Round(0).Add(secondsPerDay * time.Second)
	}
	return instant(next, localTime)
}

// edgeWithinADay returns the Unix time at which the coverage of a window next changes, or never if that is
// not in the next 24 hours. localTime lies in the span home.
func edgeWithinADay(windows []TimeWindow, localTime time.Time, home span) int64 {
	limit := localTime.Unix() + secondsPerDay
	next, others := nextChange(windows, nil, localTime, home, limit)
	if others {
		next = min(next, nextChangeAbroad(windows, localTime, min(next, limit)))
	}
	if next > limit {
		return never
	}
	return next
}

// nextChangeAbroad is nextChange for all windows that have zones of their own.
func nextChangeAbroad(windows []TimeWindow, localTime time.Time, limit int64) int64 {
	next := int64(never)
	var done zoneSet
	for i := range windows {
		zone := windows[i].zone
		if zone == nil {
			continue
		}
		if _, known := done.add(zone); !known {
			t := localTime.In(zone)
			change, _ := nextChange(windows, zone, t, spanOf(t), min(next, limit))
			next = min(next, change)
		}
	}
	return next
}

// nextChange returns the Unix time, after t and up to limit, at which the coverage of a window of one
// zone first changes, or never; and whether there are windows of other zones. zone is the windows' own
// one, nil for the windows without; t is in that zone, or in the schedule's, and lies in the span s.
func nextChange(windows []TimeWindow, zone *time.Location, t time.Time, s span, limit int64) (change int64, others bool) {
	for from := t.Unix(); ; {
		ahead, others := nextEdge(windows, zone, from+s.offset)
		if next := from + ahead; next < s.end && next <= limit {
			return next, others
		}
		if s.end > limit {
			return never, others
		}
		following := spanOf(instant(s.end, t))
		if coverageDiffers(windows, zone, s.end-1+s.offset, s.end+following.offset) {
			return s.end, others
		}
		from, s = s.end, following
	}
}

// nextEdge returns how many seconds after the given wall time the next start or end of a window of one
// zone comes, on a clock without changes, and whether there are windows of other zones. It looks
// at that day and the next, which is enough for all callers; with no edge there, the number is
// huge.
func nextEdge(windows []TimeWindow, zone *time.Location, wall int64) (ahead int64, others bool) {
	day, second := splitDay(wall)
	today := maskOf(day)
	tomorrow := today.next()
	minute, nearest := int32(second/60), int32(math.MaxInt32)
	for i := range windows {
		w := &windows[i]
		if w.zone != zone {
			others = true
			continue
		}
		nearest = min(nearest,
			edgeAfter(minute, int32(w.start), w.opens, today, tomorrow),
			edgeAfter(minute, int32(w.end), w.closes, today, tomorrow))
	}
	return int64(nearest)*60 - second, others
}

// edgeAfter returns when an edge that lies at a minute of each of days comes after minute now, counted
// from the midnight before now: today if it is in the future, or tomorrow. Edges are whole minutes, so
// the seconds of now do not matter.
func edgeAfter(now, edge int32, days, today, tomorrow dayMask) int32 {
	if edge > now && days&today != 0 {
		return edge
	}
	if days&tomorrow != 0 {
		return edge + minutesPerDay
	}
	return math.MaxInt32
}

// coverageDiffers reports whether any window of one zone covers just one of two wall times. At the end
// of a span this finds the edges that a skipped hour swallowed, and the windows that a repeated hour
// reopens.
func coverageDiffers(windows []TimeWindow, zone *time.Location, before, after int64) bool {
	b, a := momentAt(before), momentAt(after)
	for i := range windows {
		if w := &windows[i]; w.zone == zone && w.covers(b) != w.covers(a) {
			return true
		}
	}
	return false
}

// NextDate returns the first instant after localTime whose local civil date is another one. That is
// midnight, or what a clock change makes of it: later where midnight is skipped or repeated, and the
// date may also fall back by a day or leave one out.
func NextDate(localTime time.Time) time.Time {
	return instant(nextDate(localTime, spanOf(localTime)), localTime)
}

// nextDate is NextDate in Unix time for a localTime that lies in the span s.
func nextDate(localTime time.Time, s span) int64 {
	today, _ := splitDay(localTime.Unix() + s.offset)
	for {
		if midnight := s.midnightAfter(today); midnight < s.end {
			return midnight
		}
		following := spanOf(instant(s.end, localTime))
		if day, _ := splitDay(s.end + following.offset); day != today {
			return s.end
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
	end := ZoneEnd(t)
	if end.IsZero() {
		return span{offset: int64(offset), end: never}
	}
	return span{offset: int64(offset), end: end.Unix()}
}

// ZoneEnd returns the first instant after t at which the zone of t's Location may have another offset, zero if it keeps the one it
// has. It is what ZoneBounds ought to return: of the last day of a leap year, once changes follow from a zone's rule and are no longer
// listed, that returns the beginning of the day, because it counts 365 days (https://go.dev/issue/81583). In the embedded database that
// is so from 2028 on in most zones.
func ZoneEnd(t time.Time) time.Time {
	_, end := t.ZoneBounds()
	if end.IsZero() || end.After(t) {
		return end
	}
	return time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).In(t.Location())
}

// midnightAfter returns the instant at which the given day would end if the span went on.
func (s span) midnightAfter(day int64) int64 { return (day+1)*secondsPerDay - s.offset }

// instant returns Unix time sec in the Location of like.
func instant(sec int64, like time.Time) time.Time {
	return time.Unix(sec, 0).In(like.Location())
}
