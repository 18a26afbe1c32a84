package admission

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

// The table is made on a machine with a zone database; here it is held against the zones that the
// binary works with. Since 2010 every old name must have kept the same time as the one that replaces
// it: some names stand for places that kept a time of their own in earlier years.
func TestDeprecatedZonesKeepTheTime(t *testing.T) {
	from := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
	until := time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC)
	if len(deprecatedZones) < 100 {
		t.Fatalf("the table has %d entries", len(deprecatedZones))
	}
	for old, current := range deprecatedZones {
		if _, ok := deprecatedZones[current]; ok {
			t.Errorf("%s is replaced by %s, which is old itself", old, current)
		}
		oldZone, err := timecalc.LoadZone(old)
		if err != nil {
			t.Error(err)
			continue
		}
		zone, err := timecalc.LoadZone(current)
		if err != nil {
			t.Error(err)
			continue
		}
		for at := from; at.Before(until); {
			_, offset := at.In(oldZone).Zone()
			if _, want := at.In(zone).Zone(); offset != want {
				t.Errorf("%s and %s differ at %s", old, current, at)
				break
			}
			at = earlier(nextChange(at, oldZone, until), nextChange(at, zone, until))
		}
	}
}

// nextChange returns the zone's first change after t, or limit without one before it.
func nextChange(t time.Time, zone *time.Location, limit time.Time) time.Time {
	_, end := t.In(zone).ZoneBounds()
	if end.IsZero() {
		return limit
	}
	return earlier(end, limit)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func TestDeprecatedZonesKnowTheUsualOnes(t *testing.T) {
	for old, want := range map[string]string{
		"US/Eastern": "America/New_York", "Asia/Calcutta": "Asia/Kolkata", "Europe/Kiev": "Europe/Kyiv",
		"Iceland": "Atlantic/Reykjavik", "Zulu": "UTC", "CET": "Europe/Brussels",
	} {
		if got := deprecatedZones[old]; got != want {
			t.Errorf("%s is replaced by %q, want %s", old, got, want)
		}
	}
	for _, current := range []string{"UTC", "GMT", "Etc/UTC", "Europe/Berlin", "Europe/Bratislava", "Asia/Kolkata"} {
		if got, ok := deprecatedZones[current]; ok {
			t.Errorf("%s is said to be replaced by %s", current, got)
		}
	}
}

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
