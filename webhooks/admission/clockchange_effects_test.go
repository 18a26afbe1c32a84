package admission

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

// Warnings describe what the window does, and an edge without a warning is covered by another one.
func TestClockChangeWarningsAreTrue(t *testing.T) {
	days := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	zones := []string{"Europe/Berlin", "America/New_York", "America/Havana", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia"}
	rapid.Check(t, func(t *rapid.T) {
		at := func(label string) string { // often in the small hours, when clocks are changed
			minute := rapid.OneOf(rapid.IntRange(0, 4*12), rapid.IntRange(0, 24*12-1)).Draw(t, label) * 5
			return time.Unix(int64(minute)*60, 0).UTC().Format("15:04")
		}
		end := at("end")
		if rapid.IntRange(0, 9).Draw(t, "the end of the day") == 0 {
			end = "24:00"
		}
		window, err := timecalc.ParseWindow(rapid.SliceOfN(rapid.SampledFrom(days), 1, 14).Draw(t, "days"), at("start"), end, 1)
		if err != nil {
			t.Skip("start equals end")
		}
		zone, err := timecalc.LoadZone(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(rapid.IntRange(2006, 2030).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		windows, home := []timecalc.TimeWindow{window}, zone
		if rapid.Bool().Draw(t, "a zone of its own") {
			windows[0], home = window.In(zone), time.UTC
		}
		edges := timecalc.IrregularEdges(windows, home, from, from.AddDate(1, 0, 0))
		for i, e := range edges {
			var found Findings
			found.checkClockChange(e, hasOther(edges, i), windows, field.NewPath("w"))
			line := strings.Join(found.Warnings(), "")
			if line == "" && end == "24:00" && e.Edge == timecalc.EdgeEnd {
				continue // it ends where its day does, whenever that is
			}
			if !isTrue(line, e, func(at time.Time) bool { return timecalc.ActiveWindow(windows, at.In(zone)) == 0 }) {
				t.Errorf("%s; %+v of %s", line, e, window)
			}
		}
	})
}

// isTrue checks the text of a warning about e against when the window runs.
func isTrue(line string, e timecalc.IrregularEdge, runs func(time.Time) bool) bool {
	turns := func(at time.Time, on bool) bool { return runs(at) == on && runs(at.Add(-1)) != on }
	first, start := e.At[0], e.Edge == timecalc.EdgeStart
	switch {
	case strings.Contains(line, "starts, stops when clocks go back, and starts again"),
		strings.Contains(line, "ends, resumes when clocks go back, and ends again"):
		_, change := first.ZoneBounds()
		return turns(first, start) && runs(change.Add(-1)) == start && runs(change) != start && turns(e.At[1], start)
	case strings.Contains(line, "both times"):
		return turns(first, start) && turns(e.At[1], start)
	case strings.Contains(line, "the window starts at"):
		return start && turns(first, true)
	case strings.Contains(line, "the window ends at"):
		return !start && turns(first, false)
	case strings.Contains(line, "continues without interruption"):
		return runs(first) && runs(first.Add(-1))
	case strings.Contains(line, "does not run on"):
		before := first.Add(-1) // may belong to the window of the day before
		return startsOn(e, runs) == 0 && !runs(first) && (!runs(before) || before.Format(time.DateOnly) != e.Date)
	case strings.Contains(line, "runs twice on"):
		return startsOn(e, runs) == 2
	case line != "":
		return false
	case start: // of a window that runs on: its end has the line
		return runs(first) && runs(first.Add(-1))
	default: // the end of a window that runs twice or not at all: its start has the line
		return e.Kind == timecalc.Repeated || !runs(first.Add(-1))
	}
}

// startsOn counts how often the window starts on the date of e.
func startsOn(e timecalc.IrregularEdge, runs func(time.Time) bool) int {
	starts := 0
	for at := e.At[0].Add(-25 * time.Hour); at.Before(e.At[0].Add(25 * time.Hour)); at = at.Add(time.Minute) {
		if at.Format(time.DateOnly) == e.Date && runs(at) && !runs(at.Add(-time.Minute)) {
			starts++
		}
	}
	return starts
}

// hasOther reports whether the other edge of the same window falls on the same date.
func hasOther(edges []timecalc.IrregularEdge, i int) bool {
	for j, e := range edges {
		if j != i && e.Window == edges[i].Window && e.Date == edges[i].Date {
			return true
		}
	}
	return false
}
