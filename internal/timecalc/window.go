package timecalc

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

const (
	minutesPerDay = 24 * 60
	secondsPerDay = 24 * 60 * 60
)

// dayNames are the names of seed 002 in the order of the bits of a dayMask: Monday is bit 0.
var dayNames = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// dayMask is a set of weekdays.
type dayMask uint8

const everyDay dayMask = 1<<7 - 1

// next returns the set of the days that follow the days in d.
func (d dayMask) next() dayMask { return (d<<1 | d>>6) & everyDay }

// TimeWindow is a parsed, valid window: days, a start (inclusive) and an end (exclusive) as local
// civil times, and the replicas wanted meanwhile. ParseWindow is the only way to make one that ever
// covers anything. Windows compare with ==.
type TimeWindow struct {
	replicas   int32
	start, end int16   // minutes of the local day
	days       dayMask // days it starts on
	endDays    dayMask // days it ends on: days, or the days after them (T2)
}

// FieldError says what is wrong with one field of a window, and what would be right.
type FieldError struct {
	Field  string // "days", "days[1]", "start", "end" or "replicas"
	Detail string
}

// Error returns the field and the detail in one line.
func (e *FieldError) Error() string { return e.Field + ": " + e.Detail }

// ParseWindow makes a window from the fields of seed 002: days are Mon to Sun (a day listed twice
// counts once), start and end are HH:MM from 00:00 to 23:59 and differ, replicas are 0 or more.
// An end before the start means the next day. The error is a *FieldError, or several joined.
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
	to, okTo := parseClock(end)
	if !okTo {
		refuse("end", "%q is not a time of day: use HH:MM from 00:00 to 23:59, such as 17:00", end)
	}
	if okFrom && okTo && from == to {
		refuse("end", "start must not equal end (both are %s): for a whole day use two windows, "+
			"such as 00:00-12:00 and 12:00-00:00", start)
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
	w := TimeWindow{replicas: replicas, start: from, end: to, days: mask, endDays: mask}
	if w.CrossesMidnight() {
		w.endDays = mask.next()
	}
	return w, nil
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

// parseClock reads HH:MM as ^([0-1][0-9]|2[0-3]):[0-5][0-9]$ does (seed 002), in minutes of the day.
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

// Replicas is the number of replicas the window asks for.
func (w TimeWindow) Replicas() int32 { return w.replicas }

// Start is the first local time of day the window covers, as HH:MM.
func (w TimeWindow) Start() string { return clockText(w.start) }

// End is the local time of day at which the window no longer covers, as HH:MM.
func (w TimeWindow) End() string { return clockText(w.end) }

// CrossesMidnight reports whether the window ends on the day after the one it starts on.
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

// String returns the window for people, without the replicas: "Mon-Fri 09:00-17:00",
// "Sat,Sun 10:00-12:00", "daily 22:00-02:30".
func (w TimeWindow) String() string {
	return w.daysText() + " " + w.Start() + "-" + w.End()
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
