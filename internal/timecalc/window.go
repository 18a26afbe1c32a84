package timecalc

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"
)

const (
	minutesPerDay = 24 * 60
	secondsPerDay = 24 * 60 * 60
)

// dayNames are the names of the days (R1) in the order of the bits of a dayMask: Monday is bit 0.
var dayNames = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// dayMask is a set of weekdays.
type dayMask uint8

const everyDay dayMask = 1<<7 - 1

// next returns the set of the days that follow the days in d.
func (d dayMask) next() dayMask { return (d<<1 | d>>6) & everyDay }

// previous returns the set of the days before the days in d.
func (d dayMask) previous() dayMask { return (d>>1 | d<<6) & everyDay }

// TimeWindow is a parsed, valid window: days, a start (inclusive) and an end (exclusive) as local
// civil times, and the replicas wanted meanwhile. ParseWindow is the only way to make one that ever
// covers anything. It is read in its own zone if it has one, else in the schedule's (A6).
//
// Windows that carry zones do not compare with ==: each time.LoadLocation makes a new pointer. Ask
// IdenticalWindows, which goes by the zones' names.
type TimeWindow struct {
	hours
	replicas int32
	zone     *time.Location // nil: the schedule's
	name     string         // "": none
}

// hours is when a window is open, by the clock of any zone.
type hours struct {
	start, end int16   // minutes of the local day; an end of 24:00 is minutesPerDay
	days       dayMask // days it belongs to: those it starts on (T2)
	opens      dayMask // days on which it opens at start
	closes     dayMask // days on which it closes at end, counted from the midnight they start with
}

// hoursOf finds the days on which a window opens and closes. They are its days, and for an end after
// midnight the days after them (T2). A whole day runs on into the next where that is listed too.
func hoursOf(days dayMask, start, end int16) hours {
	h := hours{start: start, end: end, days: days, opens: days, closes: days}
	switch {
	case end < start:
		h.closes = days.next()
	case start == 0 && end == minutesPerDay:
		h.opens, h.closes = days&^days.next(), days&^days.previous()
	}
	return h
}

// FieldError says what is wrong with one field of a window, and what would be right.
type FieldError struct {
	Field  string // "days", "days[1]", "start", "end" or "replicas"
	Detail string
}

// Error returns the field and the detail in one line.
func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }

// ParseWindow makes a window from the fields of R1: days are Mon to Sun (a day listed twice
// counts once), start is HH:MM from 00:00 to 23:59, end from 00:00 to 24:00 (A6), they differ, and
// replicas are 0 or more. An end before the start means the next day; 24:00 is where the day itself
// ends. The window has no zone and no name: see In and Named. The error is a *FieldError, or several
// joined.
func ParseWindow(days []string, start, end string, replicas int32) (TimeWindow, error) {
	var errs []error
	refuse := func(field, format string, args ...any) {
		errs = append(errs, &FieldError{Field: field, Detail: fmt.Sprintf(format, args...)})
	}
	var mask dayMask
	if len(days) == 0 {
		refuse("days", "must name at least one day of Mon, Tue, Wed, Thu, Fri, Sat, Sun")
	}
	for i, name := range days {
		day, ok := parseDay(name)
		if !ok {
			refuse(fmt.Sprintf("days[%d]", i), "%q is not a day: use Mon, Tue, Wed, Thu, Fri, Sat or Sun", name)
		}
		mask |= day
	}
	from, okFrom := parseClock(start)
	if !okFrom {
		refuse("start", "%q is not a time of day: use HH:MM from 00:00 to 23:59, such as 09:00", start)
	}
	to, okTo := parseEnd(end)
	if !okTo {
		refuse("end", "%q is not a time of day: use HH:MM from 00:00 to 24:00, such as 17:00", end)
	}
	if okFrom && okTo && from == to {
		refuse("end", "start must not equal end (both are %s): a whole day is 00:00-24:00", start)
	}
	if replicas < 0 {
		refuse("replicas", "%d is negative: must be 0 or more", replicas)
	}
	if len(errs) == 1 {
		return TimeWindow{}, errs[0]
	}
	if len(errs) > 1 {
		return TimeWindow{}, errors.Join(errs...)
	}
	return TimeWindow{hours: hoursOf(mask, from, to), replicas: replicas}, nil
}

// In returns the window read on the clock of zone; nil is the schedule's own zone. Give windows of one
// zone the same pointer, and those of the schedule's zone nil: the engine reads each clock once.
func (w TimeWindow) In(zone *time.Location) TimeWindow {
	w.zone = zone
	return w
}

// Named returns the window under a name for status.currentWindow (B7); "" takes the name away.
func (w TimeWindow) Named(name string) TimeWindow {
	w.name = name
	return w
}

// parseDay returns the one-day set for a name of dayNames, or the empty set and false.
func parseDay(name string) (dayMask, bool) {
	for i, n := range dayNames {
		if n == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// parseClock reads HH:MM as ^([0-1][0-9]|2[0-3]):[0-5][0-9]$ does (R1), in minutes of the day.
func parseClock(s string) (int16, bool) {
	if len(s) != len("HH:MM") || s[2] != ':' {
		return 0, false
	}
	var d [4]int16
	for i, c := range []byte{s[0], s[1], s[3], s[4]} {
		if c < '0' || c > '9' {
			return 0, false
		}
		d[i] = int16(c - '0')
	}
	hour, minute := d[0]*10+d[1], d[2]*10+d[3]
	return hour*60 + minute, hour < 24 && minute < 60
}

// parseEnd reads an end: a time of day as parseClock does, or 24:00.
func parseEnd(s string) (int16, bool) {
	if s == "24:00" {
		return minutesPerDay, true
	}
	return parseClock(s)
}

// Replicas is the number of replicas the window asks for.
func (w TimeWindow) Replicas() int32 { return w.replicas }

// Zone is the window's own zone, nil where the schedule's holds.
func (w TimeWindow) Zone() *time.Location { return w.zone }

// zoneOr is the zone the window is read in, in a schedule of zone home.
func (w TimeWindow) zoneOr(home *time.Location) *time.Location {
	if w.zone == nil {
		return home
	}
	return w.zone
}

// zoneName is the name of the window's own zone, "" without one.
func (w TimeWindow) zoneName() string {
	if w.zone == nil {
		return ""
	}
	return w.zone.String()
}

// Name is the window's own name, "" without one.
func (w TimeWindow) Name() string { return w.name }

// Start is the first local time of day the window covers, as HH:MM.
func (w TimeWindow) Start() string { return clockText(w.start) }

// End is the local time of day at which the window no longer covers, as HH:MM; the end of the day is
// 24:00 or 00:00, as it was written.
func (w TimeWindow) End() string { return clockText(w.end) }

// CrossesMidnight reports whether the window ends on the day after the one it starts on. One that ends
// at 24:00 does not.
func (w TimeWindow) CrossesMidnight() bool { return w.end < w.start }

// Days lists the days the window starts on, in the order Mon to Sun, each once.
func (w TimeWindow) Days() []string {
	names := make([]string, 0, bits.OnesCount8(uint8(w.days)))
	for i, name := range dayNames {
		if w.days&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String returns the window for people, without name and replicas: "Mon-Fri 09:00-17:00",
// "Sat,Sun 10:00-12:00", "daily 22:00-02:30", and with its own zone "Mon 18:00-24:00 Asia/Tokyo".
func (w TimeWindow) String() string {
	text := w.daysText() + " " + w.Start() + "-" + w.End()
	if w.zone == nil {
		return text
	}
	return text + " " + w.zone.String()
}

// daysText shortens three or more days in a row to a range and all seven to "daily".
func (w TimeWindow) daysText() string {
	if w.days == everyDay {
		return "daily"
	}
	var parts []string
	for i := 0; i < len(dayNames); i++ {
		run := bits.TrailingZeros8(^uint8(w.days >> i))
		switch {
		case run >= 3:
			parts = append(parts, dayNames[i]+"-"+dayNames[i+run-1])
			i += run - 1
		case run > 0:
			parts = append(parts, dayNames[i])
		}
	}
	return strings.Join(parts, ",")
}

// clockText formats a minute of the day as HH:MM.
func clockText(minute int16) string {
	return fmt.Sprintf("%02d:%02d", minute/60, minute%60)
}
