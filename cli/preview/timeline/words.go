package timeline

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// LocalTime is the layout of an instant for people. The offset tells the two hours of the same name apart when a clock is put back.
const LocalTime = "Mon 2006-01-02 15:04 -07:00"

// Why says in words why the count changes: "window entered: nights".
func (t *Timeline) Why(tr Transition) string {
	switch tr.Reason {
	case HolidayStarted:
		return "holiday " + tr.Holiday + " begins: " + t.Scaler.Calendar.HolidayMode
	case HolidayEnded:
		return "holiday " + tr.Holiday + " is over"
	case ClockChange:
		return t.clockAt(tr.Time) + ": " + t.moved(tr)
	default:
		return t.moved(tr)
	}
}

// moved says which window begins, ends or goes on.
func (t *Timeline) moved(tr Transition) string {
	left, window := t.Scaler.Describe(tr.Left), t.Scaler.Describe(tr.Window)
	switch {
	case tr.Window == timecalc.LabelOffHours:
		return "window left: " + left
	case tr.Left != "":
		return "window left: " + left + ", " + window + " goes on"
	default:
		return "window entered: " + window
	}
}

// GraceWords says what the grace period of a transition keeps until when, in zone; "" if none runs.
func (t *Timeline) GraceWords(tr Transition, zone *time.Location) string {
	if tr.GraceUntil.IsZero() {
		return ""
	}
	layout := "15:04"
	switch {
	case tr.GraceUntil.Sub(tr.Time) >= 12*time.Hour:
		layout = "Mon 2006-01-02 15:04"
	case tr.GraceUntil.Second() != 0:
		layout = time.TimeOnly
	}
	return fmt.Sprintf("%s kept until %s", t.Scaler.Count(tr.Kept), tr.GraceUntil.In(zone).Format(layout))
}

// clockAt tells of the clock change at an instant, abroad if it is not the schedule's.
func (t *Timeline) clockAt(at time.Time) string {
	for _, all := range [][]Change{t.Changes, t.Abroad} {
		for _, change := range all {
			if change.Time.Equal(at) {
				return t.ClockWords(change)
			}
		}
	}
	return "clock changes"
}

// ClockWords says how a clock changes: "clock goes forward from 02:00 to 03:00", and of which zone if it is not the schedule's.
func (t *Timeline) ClockWords(change Change) string {
	direction, whose := "forward", ""
	if change.Amount() < 0 {
		direction = "back"
	}
	if name := change.Time.Location().String(); name != t.Scaler.Calendar.Zone.String() {
		whose = " of " + name
	}
	layout := "15:04"
	if change.Old().Format(time.DateOnly) != change.Time.Format(time.DateOnly) {
		layout = "2006-01-02 15:04"
	}
	return fmt.Sprintf("clock%s goes %s from %s to %s", whose, direction, change.Old().Format(layout), change.Time.Format(layout))
}

// Window is a line of the list of windows of a schedule.
type Window struct {
	Label    string // as Segment.Window has it
	When     string // days and times, the zone if it is the window's own, and what a metric does to the count
	Replicas int32
}

// Windows lists the windows in their order, the last that covers decides, and after them what holds otherwise.
func (s *Scaler) Windows() []Window {
	var all []Window
	for i, w := range s.Calendar.Windows {
		when := w.String()
		if metric := s.Spec.Windows[i].Metric; metric != nil {
			lowest, highest := schedule.MetricBounds(metric)
			when += fmt.Sprintf(", by metric %d to %d", lowest, highest)
		}
		all = append(all, Window{s.Calendar.Label(verdictOf(i)), when, w.Replicas()})
	}
	return append(all, Window{timecalc.LabelOffHours, "otherwise", s.Calendar.DefaultReplicas})
}

// verdictOf is a verdict by which a window decides.
func verdictOf(window int) timecalc.Verdict { return timecalc.Verdict{Window: window} }

// HolidayWords says what holidays do, "" if the schedule does not follow any.
func (s *Scaler) HolidayWords() string {
	source := schedule.HolidaySource(s.Spec)
	switch s.Calendar.HolidayMode {
	case timecalc.HolidayClosed:
		return "ConfigMap " + source + ", treat-as-closed: the default all day"
	case timecalc.HolidayOpen:
		return "ConfigMap " + source + ", treat-as-open: the highest count of all windows all day"
	default:
		return ""
	}
}
