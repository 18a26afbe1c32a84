package timeline

import (
	"fmt"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// LocalTime is the layout of an instant for people. The offset distinguishes the two hours of the same name when clocks go back.
const LocalTime = "Mon 2006-01-02 15:04 -07:00"

// Why is why the count changes, for people: "window entered: nights".
func (t *Timeline) Why(tr Transition) string {
	left, window := t.Scaler.Describe(tr.Left), t.Scaler.Describe(tr.Window)
	text := "window entered: " + window
	switch {
	case tr.Reason == HolidayStarted:
		return "holiday " + tr.Holiday + " begins: " + t.Scaler.Calendar.HolidayMode
	case tr.Reason == HolidayEnded:
		return "holiday " + tr.Holiday + " ends"
	case tr.Window == timecalc.LabelOffHours:
		text = "window left: " + left
	case tr.Left != "":
		text = "window left: " + left + ", " + window + " continues"
	}
	if tr.Reason == ClockChange {
		return t.clockAt(tr.Time) + ": " + text
	}
	return text
}

// WhyWithGrace is Why, and until when a grace period keeps the higher count. Times are shown in zone.
func (t *Timeline) WhyWithGrace(tr Transition, zone *time.Location) string {
	text := t.Why(tr)
	if tr.GraceUntil.IsZero() {
		return text
	}
	layout := "15:04"
	switch {
	case tr.GraceUntil.Sub(tr.Time) >= 12*time.Hour:
		layout = "Mon 2006-01-02 15:04"
	case tr.GraceUntil.Second() != 0:
		layout = time.TimeOnly
	}
	return fmt.Sprintf("%s; %s kept until %s", text, t.Scaler.Count(tr.Kept), tr.GraceUntil.In(zone).Format(layout))
}

func (t *Timeline) clockAt(at time.Time) string {
	for _, all := range [][]Change{t.Changes, t.Abroad} {
		for _, change := range all {
			if change.Time.Equal(at) {
				return t.ClockText(change)
			}
		}
	}
	return "clock changes"
}

// ClockText describes a clock change: "clock goes forward from 02:00 to 03:00", with the zone if it is not the schedule's.
func (t *Timeline) ClockText(change Change) string {
	direction, whose := "forward", ""
	if change.Amount() < 0 {
		direction = "back"
	}
	if name := change.Time.Location().String(); name != t.Scaler.Calendar.Zone.String() {
		whose = " in " + name
	}
	layout := "15:04"
	if change.Old().Format(time.DateOnly) != change.Time.Format(time.DateOnly) {
		layout = "2006-01-02 15:04"
	}
	return fmt.Sprintf("clock%s goes %s from %s to %s", whose, direction, change.Old().Format(layout), change.Time.Format(layout))
}

// Span is a duration for people, in at most two units: 45 min, 1 h 30 min, 3 d 4 h.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	units := []struct {
		unit time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	if d < 2*day {
		units = units[1:] // 26 h is easier to read than 1 d 2 h
	}
	var parts []string
	for _, u := range units {
		if count := d / u.unit; count > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%d %s", count, u.name))
			d -= count * u.unit
		} else if len(parts) > 0 {
			break
		}
	}
	if len(parts) == 0 {
		return "0 s"
	}
	return strings.Join(parts, " ")
}

// Hours is a sum of replicas times seconds in replica-hours.
func Hours(seconds int64) float64 { return float64(seconds) / 3600 }
