package timecalc_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/timecalc"
)

// A span ends after every instant in it, at the next change or before, and the offset holds until then: also at the end of years
// beyond the last change that the database lists.
func TestZoneEnd(t *testing.T) {
	t.Parallel()
	for name := range allZones(t) {
		zone := mustZone(t, name)
		for _, year := range []int{2027, 2028, 2040, 2100, 2400} {
			first := time.Date(year, time.December, 29, 0, 0, 0, 0, time.UTC)
			for at := first.In(zone); at.Before(first.AddDate(0, 0, 5)); at = at.Add(3*time.Hour + 7*time.Minute) {
				end := timecalc.ZoneEnd(at)
				if end.IsZero() {
					continue
				}
				if !end.After(at) {
					t.Fatalf("%s: the span of %s ends at %s", name, at, end)
				}
				_, before := at.Zone()
				if _, after := end.Add(-1).Zone(); before != after {
					t.Errorf("%s: between %s and %s the offset goes from %d to %d", name, at, end, before, after)
				}
			}
		}
	}
}

// The last day of a leap year is a day like any other. 2028 is the first one beyond the list of the embedded database.
func TestTheEndOfALeapYear(t *testing.T) {
	t.Parallel()
	var stretches []stretch
	for _, name := range []string{"America/New_York", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe", "America/Adak"} {
		zone := mustZone(t, name)
		for _, year := range []int{2028, 2096} {
			newYear := time.Date(year+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
			stretches = append(stretches, stretch{name, zone, newYear - 2*24*3600, newYear + 24*3600})
		}
	}
	for _, s := range stretches {
		at := time.Unix(s.to, 0).Add(-25 * time.Hour).In(s.zone)
		if !timecalc.ZoneEnd(at).After(at) {
			t.Fatalf("%s: the engine would never come to an end at %s", s.name, at)
		}
	}
	report(t, len(stretches), inParallel(examinations(stretches, 2)))
}
