package timecalc

import "time"

// ComputeEffectiveReplicas returns the replicas of the last window that covers localTime, or
// defaultReplicas when none does (seed 004). localTime carries the schedule's zone as its Location.
func ComputeEffectiveReplicas(windows []TimeWindow, defaultReplicas int32, localTime time.Time) int32 {
	if i := ActiveWindow(windows, localTime); i >= 0 {
		return windows[i].replicas
	}
	return defaultReplicas
}

// ActiveWindow returns the index of the last window that covers localTime, or -1.
func ActiveWindow(windows []TimeWindow, localTime time.Time) int {
	return lastCovering(windows, momentAt(wallSeconds(localTime)))
}

// lastCovering returns the index of the last window that covers m, or -1.
func lastCovering(windows []TimeWindow, m moment) int {
	for i := len(windows) - 1; i >= 0; i-- {
		if windows[i].covers(m) {
			return i
		}
	}
	return -1
}

// moment is all a window looks at: a weekday, the one before it, and the minute of the day. Seconds do
// not matter, because every edge is a whole minute of wall time.
type moment struct {
	today, yesterday dayMask
	minute           int16
}

// covers is rule T1, with rule T2 for a window that crosses midnight.
func (w TimeWindow) covers(m moment) bool {
	if w.start < w.end {
		return w.days&m.today != 0 && w.start <= m.minute && m.minute < w.end
	}
	return w.days&m.today != 0 && w.start <= m.minute || w.days&m.yesterday != 0 && m.minute < w.end
}

// wallSeconds is t's local wall clock, counted in seconds from 1970-01-01 00:00 on that same clock.
func wallSeconds(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// momentAt splits wall seconds into what windows look at.
func momentAt(wall int64) moment {
	day, second := splitDay(wall)
	today := maskOf(day)
	return moment{
		today:     today,
		yesterday: (today>>1 | today<<6) & everyDay,
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
