package admission

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

// What a warning says about an edge is what the window does.
func TestEffectsAreTrue(t *testing.T) {
	days := []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	zones := []string{"Europe/Berlin", "America/New_York", "America/Havana", "Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia"}
	rapid.Check(t, func(t *rapid.T) {
		at := func(label string) string {
			minute := rapid.IntRange(0, 24*12-1).Draw(t, label) * 5 // every five minutes
			return time.Unix(int64(minute)*60, 0).UTC().Format("15:04")
		}
		window, err := timecalc.ParseWindow(rapid.SliceOfN(rapid.SampledFrom(days), 1, 7).Draw(t, "days"), at("start"), at("end"), 1)
		if err != nil {
			t.Skip("start equals end")
		}
		zone, err := timecalc.LoadZone(rapid.SampledFrom(zones).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(rapid.IntRange(2006, 2030).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC)
		windows := []timecalc.TimeWindow{window}
		runs := func(at time.Time) bool { return timecalc.ActiveWindow(windows, at.In(zone)) == 0 }
		edges := timecalc.IrregularEdges(windows, zone, from, from.AddDate(1, 0, 0))
		for i, e := range edges {
			alone := !hasOther(edges, i)
			switch {
			case e.Kind == timecalc.Repeated && alone:
				// "starts, stops when they go back, and starts again", or the reverse of it for an end.
				_, change := e.At[0].ZoneBounds()
				starts := e.Edge == timecalc.EdgeStart
				for at, want := range map[time.Time]bool{
					e.At[0].Add(-1): !starts, e.At[0]: starts, change.Add(-1): starts,
					change: !starts, e.At[1].Add(-1): !starts, e.At[1]: starts,
				} {
					if runs(at) != want {
						t.Errorf("%+v: at %s the window runs: %v", e, at, !want)
					}
				}
			case e.Kind == timecalc.Skipped && alone:
				if starts := e.Edge == timecalc.EdgeStart; runs(e.At[0]) != starts || runs(e.At[0].Add(-1)) == starts {
					t.Errorf("%+v does not act", e)
				}
			case e.Edge == timecalc.EdgeStart && !window.CrossesMidnight():
				// "does not run", or "runs twice" within the hours of the change.
				turns := 0
				for at := e.At[0].Add(-24 * time.Hour); at.Before(e.At[0].Add(24 * time.Hour)); at = at.Add(time.Minute) {
					if at.In(zone).Format(time.DateOnly) == e.Date && runs(at) && !runs(at.Add(-time.Minute)) {
						turns++
					}
				}
				if want := map[string]int{timecalc.Skipped: 0, timecalc.Repeated: 2}[e.Kind]; turns != want {
					t.Errorf("%+v: the window starts %d times", e, turns)
				}
			}
		}
	})
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
