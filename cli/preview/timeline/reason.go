package timeline

import (
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

func (t *Timeline) transition(before, after Segment) Transition {
	tr := Transition{Time: after.Start, From: before.Replicas, To: after.Replicas, Window: after.Window}
	switch {
	case after.Override && !before.Override:
		tr.Reason, tr.Holiday = HolidayStarted, after.Holiday
	case before.Override && !after.Override:
		tr.Reason, tr.Holiday = HolidayEnded, before.Holiday
	default:
		tr.Reason = t.reason(before, after)
		if after.Index < before.Index {
			tr.Left = before.Window
		}
	}
	return tr
}

// reason says why after follows before where windows decide both.
func (t *Timeline) reason(before, after Segment) Reason {
	switch {
	case t.byClockChange(before.Index, after.Index, after.Start):
		return ClockChange
	case after.Index >= 0:
		return WindowEntered
	default:
		return WindowLeft
	}
}

// byClockChange reports whether another window decides at an instant because a clock was put forward or back then. As the last window
// that covers decides, the greater index of the two is that of the window that began or ended. The clock is to blame if that window
// would have done neither at this instant by the old clock running on, nor by the new one having run before.
func (t *Timeline) byClockChange(before, after int, at time.Time) bool {
	calendar := &t.Scaler.Calendar
	index := max(before, after)
	change, changed := offsetChange(at.In(zoneOf(calendar, index)))
	if !changed {
		return false
	}
	window := []timecalc.TimeWindow{calendar.Windows[index].In(nil)}
	covers := func(at time.Time, offset time.Duration) bool {
		return timecalc.ActiveWindow(window, at.In(time.FixedZone("", int(offset/time.Second)))) == 0
	}
	began := after > before
	return covers(at, change.Before) != began && covers(at.Add(-1), change.After) == began
}

// zoneOf is the zone of a window's clock.
func zoneOf(calendar *timecalc.Calendar, window int) *time.Location {
	if zone := calendar.Windows[window].Zone(); zone != nil {
		return zone
	}
	return calendar.Zone
}
