// Package timeline computes what a schedule will do in a period: every change of the count, why it happens, and the
// replica-hours. It is pure; internal/timecalc answers every question about the clock.
//
// A timeline is what the schedule asks for. Where a grace period keeps the higher count, the transition says until when.
package timeline

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// Reason says why the count changes.
type Reason string

// The reasons. They are part of the JSON, which is stable.
const (
	WindowEntered  Reason = "WindowEntered"  // a window begins, or continues where one that overrides it ends
	WindowLeft     Reason = "WindowLeft"     // a window ends, and no other covers the instant
	HolidayStarted Reason = "HolidayStarted" // the first instant of a listed date
	HolidayEnded   Reason = "HolidayEnded"   // the first instant of the next date that is not listed
	ClockChange    Reason = "ClockChange"    // a clock change moves the clock into or out of a window
)

// Transition is an instant at which the count changes.
type Transition struct {
	Time     time.Time // in the schedule's zone
	From, To int32
	// Window is the label of what decides from now on, as in status.currentWindow (B7).
	Window string
	Reason Reason
	// Left is the label of the window that ends here, "" if none does. With WindowEntered it overrode Window, which continues.
	Left string
	// Holiday is the date that begins or ends, for HolidayStarted and HolidayEnded.
	Holiday string
	// GraceUntil is when the grace period that keeps the higher count Kept expires, or is cancelled because the schedule asks
	// for as many again. It is zero without a grace period.
	GraceUntil time.Time
	Kept       int32
}

// Segment is a period in which the same window, default or holiday decides.
type Segment struct {
	Start, End time.Time // [Start, End), in the schedule's zone
	Replicas   int32
	// Index is the window's index or -1, Window its label, and Holiday the local date if it is a holiday. On holidays segments
	// end at midnight, so that each has one date.
	Index    int
	Window   string
	Holiday  string
	Override bool // the holiday decides, not the windows
}

// Change is a clock change: an instant at which a zone's UTC offset changes.
type Change struct {
	Time          time.Time     // the first instant of the new offset, in the zone of the clock
	Before, After time.Duration // east of UTC
}

// Timeline is what a schedule does in a period.
type Timeline struct {
	Scaler      *Scaler
	From, Until time.Time // [From, Until), in the schedule's zone, on whole seconds
	// Segments cover the period without gaps. Neighbours differ in what decides, not always in the count.
	Segments    []Segment
	Transitions []Transition
	Days        []Day
	// Changes are the clock changes of the schedule's zone, Abroad those of other zones that windows have.
	Changes, Abroad []Change
	// Seconds is the sum of replicas times seconds.
	Seconds int64
	// Highest is the highest count of all segments, which would run all the time without a schedule.
	Highest int32
}

// Compute returns the timeline of a schedule. Fractions of seconds are dropped; it is empty if until is not after from.
func Compute(scaler *Scaler, from, until time.Time) *Timeline {
	zone := scaler.Calendar.Zone
	t := &Timeline{Scaler: scaler, From: time.Unix(from.Unix(), 0).In(zone), Until: time.Unix(until.Unix(), 0).In(zone)}
	if !t.Until.After(t.From) {
		return t
	}
	t.addSegments()
	t.addGracePeriods()
	t.addClockChanges()
	for _, s := range t.Segments {
		t.Seconds += int64(s.Replicas) * (s.End.Unix() - s.Start.Unix())
		t.Highest = max(t.Highest, s.Replicas)
	}
	t.addDays()
	return t
}

// AlwaysHighest is what Seconds would be at the highest count all the time.
func (t *Timeline) AlwaysHighest() int64 { return int64(t.Highest) * (t.Until.Unix() - t.From.Unix()) }

func (t *Timeline) addSegments() {
	calendar := &t.Scaler.Calendar
	for at := t.From; at.Before(t.Until); {
		verdict, end := calendar.At(at), calendar.NextWakeUp(at, nil)
		if end.After(t.Until) {
			end = t.Until
		}
		if t.Scaler.IsWorkspace() {
			verdict.Replicas = min(verdict.Replicas, 1) // either runs or is stopped
		}
		next := Segment{
			Start: at, End: end, Replicas: verdict.Replicas,
			Index: verdict.Window, Window: calendar.Label(verdict), Override: verdict.Override,
		}
		if t.Scaler.followsHolidays() {
			next.Holiday = verdict.Holiday
		}
		at = end
		if last := len(t.Segments) - 1; last >= 0 {
			before := &t.Segments[last]
			if before.sameAs(next) {
				before.End = next.End
				continue
			}
			if before.Replicas != next.Replicas {
				t.Transitions = append(t.Transitions, t.transition(*before, next))
			}
		}
		t.Segments = append(t.Segments, next)
	}
}

func (s Segment) sameAs(other Segment) bool {
	s.Start, s.End = other.Start, other.End
	return s == other
}

// Day is a local date, or the part of it within the timeline.
type Day struct {
	Date       string    // YYYY-MM-DD in the schedule's zone
	Start, End time.Time // [Start, End)
	Holiday    bool      // a listed date, unless the mode is ignore
	// Change is the clock change of the schedule's zone on this date, nil if there is none.
	Change *Change
	// Seconds is the sum of replicas times seconds.
	Seconds int64
}

// addDays fills in Days. A date that a clock change skips is missing; one that it repeats is there twice.
func (t *Timeline) addDays() {
	segment := 0
	for at := t.From; at.Before(t.Until); {
		end := timecalc.NextDate(at)
		if end.After(t.Until) {
			end = t.Until
		}
		day := Day{Date: at.Format(time.DateOnly), Start: at, End: end}
		day.Holiday = t.Scaler.followsHolidays() && t.Scaler.Calendar.Holidays[day.Date]
		for i := range t.Changes {
			if c := &t.Changes[i]; !c.Time.Before(at) && c.Time.Before(end) {
				day.Change = c
			}
		}
		for segment < len(t.Segments) && t.Segments[segment].Start.Before(end) {
			s := t.Segments[segment]
			day.Seconds += int64(s.Replicas) * (min(s.End.Unix(), end.Unix()) - max(s.Start.Unix(), at.Unix()))
			if s.End.After(end) {
				break
			}
			segment++
		}
		t.Days = append(t.Days, day)
		at = end
	}
}
