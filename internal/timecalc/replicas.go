package timecalc

import "time"

// ComputeEffectiveReplicas returns the replicas of the last window that covers localTime, or
// defaultReplicas when none does (R2). localTime carries the schedule's zone as its Location; a
// window with its own zone is evaluated by the clock there.
func ComputeEffectiveReplicas(windows []TimeWindow, defaultReplicas int32, localTime time.Time) int32 {
	if i := ActiveWindow(windows, localTime); i >= 0 {
		return windows[i].replicas
	}
	return defaultReplicas
}

// ActiveWindow returns the index of the last window that covers localTime, or -1.
func ActiveWindow(windows []TimeWindow, localTime time.Time) int {
	return lastCovering(windows, momentAt(wallSeconds(localTime)), localTime)
}

// lastCovering returns the index of the last window that covers now, or -1. home is the reading of the clock of
// the schedule's zone.
func lastCovering(windows []TimeWindow, home moment, now time.Time) int {
	for i := len(windows) - 1; i >= 0; i-- {
		w := &windows[i]
		if w.zone != nil {
			return lastCoveringAbroad(windows[:i+1], home, now)
		}
		if w.covers(home) {
			return i
		}
	}
	return -1
}

// lastCoveringAbroad is lastCovering where windows have their own zones.
func lastCoveringAbroad(windows []TimeWindow, home moment, now time.Time) int {
	var read zoneSet
	var moments [maxZones]moment
	for i := len(windows) - 1; i >= 0; i-- {
		w, m := &windows[i], home
		if w.zone != nil {
			slot, known := read.add(w.zone)
			if m = moments[slot]; !known {
				m = momentAt(wallSeconds(now.In(w.zone)))
				moments[slot] = m
			}
		}
		if w.covers(m) {
			return i
		}
	}
	return -1
}

// maxZones is how many zones a zoneSet holds. Few schedules span more.
const maxZones = 8

// zoneSet remembers which zones were dealt with, so that a schedule looks each of them up once. It
// lives on the stack. It may forget a zone when there are more than maxZones, which costs time alone.
type zoneSet struct {
	zones [maxZones]*time.Location
	added int
}

// add returns the slot of a zone and whether the set already knew it. A new zone beyond maxZones takes
// the slot of the oldest.
func (s *zoneSet) add(zone *time.Location) (slot int, known bool) {
	for i, z := range s.zones {
		if z == zone {
			return i, true
		}
	}
	slot = s.added % maxZones
	s.zones[slot] = zone
	s.added++
	return slot, false
}

// moment is all that a window depends on: a weekday, the one before it, and the minute of the day. Seconds do
// not matter, because every edge is a whole minute of wall time.
type moment struct {
	today, yesterday dayMask
	minute           int16
}

// covers is rule T1, with rule T2 for a window that crosses midnight.
func (h hours) covers(m moment) bool {
	if h.start < h.end {
		return h.days&m.today != 0 && h.start <= m.minute && m.minute < h.end
	}
	return h.days&m.today != 0 && h.start <= m.minute || h.days&m.yesterday != 0 && m.minute < h.end
}

// wallSeconds is t's local wall clock, counted in seconds from 1970-01-01 00:00 on that same clock.
func wallSeconds(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// momentAt splits wall seconds into what windows depend on.
func momentAt(wall int64) moment {
	day, second := splitDay(wall)
	today := maskOf(day)
	return moment{
		today:     today,
		yesterday: today.previous(),
		minute:    int16(second / 60),
	}
}

// splitDay returns the day, counted from 1970-01-01, and the second of that day; also before 1970.
func splitDay(wall int64) (day, second int64) {
	day, second = wall/secondsPerDay, wall%secondsPerDay
	if second < 0 {
		return day - 1, second + secondsPerDay
	}
	return day, second
}

// maskOf returns the weekday of a day counted from 1970-01-01, which was a Thursday (bit 3).
func maskOf(day int64) dayMask {
	weekday := (day + 3) % 7
	if weekday < 0 {
		weekday += 7
	}
	return 1 << weekday
}
