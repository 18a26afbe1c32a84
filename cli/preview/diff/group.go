package diff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

// row is steps that are the same but for their dates, such as the start of a window on every working day: people read them as
// one.
type row struct {
	likeRow
	dates []time.Time // of the steps, in the schedule's zone; a move has those from which it moved
}

// likeRow is what the steps of a row have in common. There is no clock and no count on the side on which there is no transition.
type likeRow struct {
	kind                    Kind
	clockBefore, clockAfter string
	before, after           string
	window                  string
	by                      time.Duration
}

// rows puts the steps of a scaler together, in the order of their first ones. arrow stands between two counts.
func rows(s *Scaler, arrow string) (all []*row) {
	zone := s.Now().Scaler.Calendar.Zone
	known := make(map[likeRow]*row)
	for _, step := range s.Steps {
		alike := likeRow{kind: step.Kind, window: s.windowOf(step), by: step.By()}
		alike.clockBefore, alike.before = moment(step.Before, zone, arrow)
		alike.clockAfter, alike.after = moment(step.After, zone, arrow)
		if known[alike] == nil {
			known[alike] = &row{likeRow: alike}
			all = append(all, known[alike])
		}
		// A move is listed under the day from which it moves: people look for what they know.
		first := step.Before
		if first == nil {
			first = step.After
		}
		known[alike].dates = append(known[alike].dates, first.Time.In(zone))
	}
	return all
}

// windowOf is what decides after a step.
func (s *Scaler) windowOf(step Step) string {
	if step.After != nil {
		return s.After.Scaler.Describe(step.After.Window)
	}
	return s.Before.Scaler.Describe(step.Before.Window)
}

// moment is a transition's time of day and its counts.
func moment(t *timeline.Transition, zone *time.Location, arrow string) (clock, counts string) {
	if t == nil {
		return "", ""
	}
	return clockText(t.Time.In(zone)), fmt.Sprintf("%d %s %d", t.From, arrow, t.To)
}

// clockText is to the second only where an offset has seconds, as those of some zones had.
func clockText(t time.Time) string {
	if t.Second() != 0 {
		return t.Format(time.TimeOnly)
	}
	return t.Format("15:04")
}

// when is on which days of the week and at what time.
func (r *row) when(arrow string) string {
	days := weekdays(r.dates)
	switch r.kind {
	case Moved:
		text := fmt.Sprintf("%s %s %s %s", days, r.clockBefore, arrow, r.clockAfter)
		first := r.dates[0]
		switch moved := first.Add(r.by); {
		case moved.Format(time.DateOnly) > first.Format(time.DateOnly):
			text += " of the next day"
		case moved.Format(time.DateOnly) < first.Format(time.DateOnly):
			text += " of the day before"
		}
		return text
	case Removed:
		return days + " " + r.clockBefore
	default:
		return days + " " + r.clockAfter
	}
}

// what is what happens to the row's steps, in a word or two.
func (r *row) what() string {
	switch {
	case r.kind == Moved && r.by > 0:
		return timeline.Span(r.by) + " later"
	case r.kind == Moved:
		return timeline.Span(-r.by) + " earlier"
	default:
		return string(r.kind)
	}
}

// replicas are the counts: both where they differ.
func (r *row) replicas(becomes string) string {
	switch {
	case r.before == "" || r.before == r.after:
		return r.after
	case r.after == "":
		return r.before
	default:
		return r.before + becomes + r.after
	}
}

// often is how often, and on which dates.
func (r *row) often() string {
	first, last := r.dates[0].Format(time.DateOnly), r.dates[len(r.dates)-1].Format(time.DateOnly)
	if len(r.dates) == 1 {
		return first
	}
	return fmt.Sprintf("%d times, %s to %s", len(r.dates), first, last)
}

// weekdays are the days of some dates as a window's are written: Mon-Fri.
func weekdays(dates []time.Time) string {
	var days []string
	for _, date := range dates {
		if day := date.Format("Mon"); !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	// The window's own words join neighbouring days; its times are left off again.
	window, err := timecalc.ParseWindow(days, "00:00", "24:00", 0)
	if err != nil {
		return strings.Join(days, ",")
	}
	text, _, _ := strings.Cut(window.String(), " ")
	return text
}
