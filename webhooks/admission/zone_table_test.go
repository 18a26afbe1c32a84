package admission

import (
	"testing"
	"time"

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
