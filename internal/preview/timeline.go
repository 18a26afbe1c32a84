package preview

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
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
	// GraceUntil is when a lower count is applied; zero without a grace period, and for a higher one.
	GraceUntil time.Time
}

// Segment is a stretch of time in which one thing decides.
type Segment struct {
	Start, End time.Time // [Start, End), in the schedule's zone
	Replicas   int32
	// Index is the window's, or -1, Window its label, and Holiday the local date if it is listed. Segments end at midnight on
	// holidays, so that each has one date.
	Index    int
	Window   string
	Holiday  string
	Override bool // the holiday decided the number, not the windows
}

// Change is an instant at which the schedule's clock is put forward or back.
type Change struct {
	Time          time.Time // the first instant of the new offset
	Before, After time.Duration
}

// Timeline is what a schedule does from an instant until another one.
type Timeline struct {
	Scaler      *Scaler
	From, Until time.Time // [From, Until), in the schedule's zone
	// Segments cover it without gaps. Neighbours differ in who decides, not always in the count.
	Segments    []Segment
	Transitions []Transition
	Days        []Day
	Changes     []Change
	// Seconds is the sum of replicas times seconds.
	Seconds int64
	// Highest is the highest count of all segments: what would run without a schedule.
	Highest int32
}

// Compute returns the timeline of a schedule. It is empty if until is not after from.
func Compute(scaler *Scaler, from, until time.Time) *Timeline {
	zone := scaler.Calendar.Zone
	t := &Timeline{Scaler: scaler, From: from.In(zone), Until: until.In(zone)}
	if !t.Until.After(t.From) {
		return t
	}
	t.segment()
	t.change()
	for _, s := range t.Segments {
		t.Seconds += int64(s.Replicas) * seconds(s.Start, s.End)
		t.Highest = max(t.Highest, s.Replicas)
	}
	t.day()
	return t
}

// segment fills Segments and Transitions.
func (t *Timeline) segment() {
	calendar := &t.Scaler.Calendar
	for at := t.From; at.Before(t.Until); {
		verdict, end := calendar.At(at), calendar.NextWakeUp(at, nil)
		if end.After(t.Until) {
			end = t.Until
		}
		next := Segment{
			Start: at, End: end, Replicas: verdict.Replicas,
			Index: verdict.Window, Window: calendar.Label(verdict), Holiday: verdict.Holiday, Override: verdict.Override,
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

func (t *Timeline) transition(before, after Segment) Transition {
	tr := Transition{Time: after.Start, From: before.Replicas, To: after.Replicas, Window: after.Window, Reason: t.reason(before, after)}
	if grace := t.Scaler.Grace(); grace > 0 && tr.To < tr.From {
		tr.GraceUntil = tr.Time.Add(grace)
	}
	return tr
}

// reason says why after follows before.
func (t *Timeline) reason(before, after Segment) Reason {
	switch {
	case after.Override && (!before.Override || before.Replicas != after.Replicas):
		return HolidayStarted
	case before.Override && !after.Override:
		return HolidayEnded
	case t.byClockChange(before, after):
		return ClockChange
	case after.Index >= 0:
		return WindowEntered
	default:
		return WindowLeft
	}
}

// byClockChange reports whether the clock of a window was put forward or back at the instant at which after follows before, and
// the window neither starts nor ends at the time of day that it shows then.
func (t *Timeline) byClockChange(before, after Segment) bool {
	for _, edge := range []struct {
		window int
		time   func(timecalc.TimeWindow) string
	}{
		{before.Index, timecalc.TimeWindow.End},
		{after.Index, timecalc.TimeWindow.Start},
	} {
		if edge.window < 0 {
			continue
		}
		window := t.Scaler.Calendar.Windows[edge.window]
		local := after.Start.In(t.zoneOf(window))
		if _, changed := offsetChange(local); changed && edge.time(window) != local.Format("15:04") {
			return true
		}
	}
	return false
}

func (t *Timeline) zoneOf(window timecalc.TimeWindow) *time.Location {
	if zone := window.Zone(); zone != nil {
		return zone
	}
	return t.Scaler.Calendar.Zone
}

// offsetChange says how the clock changes at an instant.
func offsetChange(local time.Time) (Change, bool) {
	_, after := local.Zone()
	_, before := local.Add(-1).Zone()
	return Change{Time: local, Before: time.Duration(before) * time.Second, After: time.Duration(after) * time.Second}, before != after
}

// change fills Changes: those of the schedule's zone.
func (t *Timeline) change() {
	for at := t.From; ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || !end.Before(t.Until) {
			return
		}
		if change, changed := offsetChange(end); changed {
			t.Changes = append(t.Changes, change)
		}
		at = end
	}
}

func seconds(from, until time.Time) int64 { return int64(until.Sub(from) / time.Second) }
