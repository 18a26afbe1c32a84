package diff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

// row is a group of steps that differ only in their dates, such as the start of a window on every working day.
type row struct {
	rowKey
	dates []time.Time // of the steps, in the schedule's zone; those of a move are the former ones
}

// rowKey is what the steps of a row have in common. Clock and counts are empty on the side without the transition.
type rowKey struct {
	kind                    Kind
	clockBefore, clockAfter string
	before, after           string
	window                  string
	by                      time.Duration
}

// rows groups the steps of a scaler, in the order of their first ones. arrow is between two counts.
func rows(s *Scaler, arrow string) (all []*row) {
	zone := s.Now().Scaler.Calendar.Zone
	known := make(map[rowKey]*row)
	for _, step := range s.Steps {
		first, key := step.Before, rowKey{kind: step.Kind, by: step.By()}
		key.clockBefore, key.before = clockAndCounts(step.Before, zone, arrow)
		key.clockAfter, key.after = clockAndCounts(step.After, zone, arrow)
		if step.After != nil {
			key.window = s.After.Scaler.Describe(step.After.Window)
		} else {
			key.window = s.Before.Scaler.Describe(step.Before.Window)
		}
		if first == nil { // a move is listed under its former date, which people know
			first = step.After
		}
		if known[key] == nil {
			known[key] = &row{rowKey: key}
			all = append(all, known[key])
		}
		known[key].dates = append(known[key].dates, first.Time.In(zone))
	}
	return all
}

func clockAndCounts(t *timeline.Transition, zone *time.Location, arrow string) (clock, counts string) {
	if t == nil {
		return "", ""
	}
	layout := "15:04"
	if t.Time.Second() != 0 { // UTC offsets of former times have seconds
		layout = time.TimeOnly
	}
	return t.Time.In(zone).Format(layout), fmt.Sprintf("%d %s %d", t.From, arrow, t.To)
}

// cells are the columns of a row: what changes, when, the counts, the window and how often.
func (r *row) cells(arrow string) []string {
	counts := r.after
	switch {
	case r.after == "":
		counts = r.before
	case r.before != "" && r.before != r.after:
		counts = r.before + ", now " + r.after
	}
	often := r.dates[0].Format(time.DateOnly)
	if len(r.dates) > 1 {
		often = fmt.Sprintf("%d times, %s to %s", len(r.dates), often, r.dates[len(r.dates)-1].Format(time.DateOnly))
	}
	return []string{r.what(), r.when(arrow), counts, r.window, often}
}

func (r *row) when(arrow string) string {
	days := weekdays(r.dates)
	switch r.kind {
	case Moved:
		text := fmt.Sprintf("%s %s %s %s", days, r.clockBefore, arrow, r.clockAfter)
		before, after := r.dates[0].Format(time.DateOnly), r.dates[0].Add(r.by).Format(time.DateOnly)
		switch {
		case after > before:
			text += " on the next day"
		case after < before:
			text += " on the day before"
		}
		return text
	case Removed:
		return days + " " + r.clockBefore
	default:
		return days + " " + r.clockAfter
	}
}

// what is the kind of a row, and by how much its steps moved.
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

// weekdays are the days of some dates as in a window: Mon-Fri.
func weekdays(dates []time.Time) string {
	var days []string
	for _, date := range dates {
		if day := date.Format("Mon"); !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	// A window's text joins neighbouring days; only its days are used.
	window, err := timecalc.ParseWindow(days, "00:00", "24:00", 0)
	if err != nil {
		return strings.Join(days, ",")
	}
	text, _, _ := strings.Cut(window.String(), " ")
	return text
}
