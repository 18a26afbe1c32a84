package timeline

import (
	"time"
)

// Reason says why the count changes.
type Reason string

// The reasons. They are part of the JSON, which is stable.
const (
	WindowEntered  Reason = "WindowEntered"  // a window begins, or goes on where one on top of it ends
	WindowLeft     Reason = "WindowLeft"     // a window ends, and none covers what follows
	HolidayStarted Reason = "HolidayStarted" // the first instant of a date that is listed
	HolidayEnded   Reason = "HolidayEnded"   // the first instant of the next one that is not
	ClockChange    Reason = "ClockChange"    // the clock leaves a window, or comes into one, because it is put forward or back
)

// Transition is an instant at which the count changes.
type Transition struct {
	Time     time.Time // in the schedule's zone
	From, To int32
	// Window is the label of what decides from now on, as status.currentWindow has it (B7).
	Window string
	Reason Reason
	// Left is the label of the window that ends here, "" if none does. With WindowEntered it lay on top of Window, which goes on.
	Left string
	// Holiday is the date that begins or is over, for HolidayStarted and HolidayEnded.
	Holiday string
	// GraceUntil is until when a grace period keeps the higher count Kept: until it ends, or the schedule asks for as many again.
	// It is zero if none runs.
	GraceUntil time.Time
	Kept       int32
}

// Segment is a stretch of time in which one thing decides.
type Segment struct {
	Start, End time.Time // [Start, End), in the schedule's zone
	Replicas   int32
	// Index is the window's, or -1, Window its label, and Holiday the local date if it is listed and the mode is not ignore.
	// Segments end at midnight on holidays, so that each has one date.
	Index    int
	Window   string
	Holiday  string
	Override bool // the holiday decided the number, not the windows
}

// Change is an instant at which a clock is put forward or back.
type Change struct {
	Time          time.Time     // the first instant of the new offset, in the zone of the clock
	Before, After time.Duration // east of UTC
}

// Timeline is what a schedule does from an instant until another one.
type Timeline struct {
	Scaler      *Scaler
	From, Until time.Time // [From, Until), in the schedule's zone, on whole seconds
	// Segments cover it without gaps. Neighbours differ in who decides, not always in the count.
	Segments    []Segment
	Transitions []Transition
	Days        []Day
	// Changes are those of the schedule's clock, Abroad those of the clocks of windows with zones of their own.
	Changes, Abroad []Change
	// Seconds is the sum of replicas times seconds.
	Seconds int64
	// Highest is the highest count of all segments: what would run without a schedule.
	Highest int32
}

// Compute returns the timeline of a schedule, of whole seconds: fractions of from and until are dropped. It is empty
// if until is not after from.
func Compute(scaler *Scaler, from, until time.Time) *Timeline {
	zone := scaler.Calendar.Zone
	t := &Timeline{Scaler: scaler, From: time.Unix(from.Unix(), 0).In(zone), Until: time.Unix(until.Unix(), 0).In(zone)}
	if !t.Until.After(t.From) {
		return t
	}
	t.segment()
	t.grace()
	t.change()
	for _, s := range t.Segments {
		t.Seconds += int64(s.Replicas) * seconds(s.Start, s.End)
		t.Highest = max(t.Highest, s.Replicas)
	}
	t.day()
	return t
}

// AlwaysHighest is what Seconds would be with the highest count all the time.
func (t *Timeline) AlwaysHighest() int64 { return int64(t.Highest) * seconds(t.From, t.Until) }

// segment fills Segments and Transitions.
func (t *Timeline) segment() {
	calendar := &t.Scaler.Calendar
	for at := t.From; at.Before(t.Until); {
		verdict, end := calendar.At(at), calendar.NextWakeUp(at, nil)
		if end.After(t.Until) {
			end = t.Until
		}
		if t.Scaler.IsWorkspace() {
			verdict.Replicas = min(verdict.Replicas, 1) // it runs or is stopped
		}
		next := Segment{
			Start: at, End: end, Replicas: verdict.Replicas,
			Index: verdict.Window, Window: calendar.Label(verdict), Override: verdict.Override,
		}
		if t.Scaler.holidaysCount() {
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
