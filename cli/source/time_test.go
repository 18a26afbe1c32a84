package source_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/timecalc"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := timecalc.LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestParseTime(t *testing.T) {
	for _, tc := range []struct{ text, zone, want string }{
		{"2026-11-23T10:00:00Z", "Asia/Kolkata", "2026-11-23T15:30:00+05:30"},
		{"2026-11-23T10:00:00-05:00", "UTC", "2026-11-23T15:00:00Z"},
		{"2026-11-23", "Asia/Kolkata", "2026-11-23T00:00:00+05:30"},
		{"2026-11-23 10:00", "Asia/Kolkata", "2026-11-23T10:00:00+05:30"},
		{"2026-11-23T10:00", "Asia/Kolkata", "2026-11-23T10:00:00+05:30"},
		{"2026-11-23 10:00:07", "America/New_York", "2026-11-23T10:00:07-05:00"},
		{"2026-11-23T10:00:07", "America/New_York", "2026-11-23T10:00:07-05:00"},
		{"2026-03-29 02:30", "Europe/Berlin", "2026-03-29T03:00:00+02:00"}, // skipped
		{"2026-10-25 02:30", "Europe/Berlin", "2026-10-25T02:30:00+02:00"}, // shown twice
		{"2026-10-25T02:30:00+01:00", "Europe/Berlin", "2026-10-25T02:30:00+01:00"},
		{"2026-04-24", "Africa/Cairo", "2026-04-24T01:00:00+03:00"},              // its midnight is skipped
		{"2011-12-30", "Pacific/Apia", "2011-12-31T00:00:00+14:00"},              // all of it is
		{"2026-10-04 02:10", "Australia/Lord_Howe", "2026-10-04T02:30:00+11:00"}, // half an hour
		{"2040-12-31 20:00", "America/New_York", "2040-12-31T20:00:00-05:00"},    // the last day of a leap year, by the zone's rule
	} {
		got, err := source.ParseTime(tc.text, zone(t, tc.zone))
		if err != nil || got.Format(time.RFC3339) != tc.want {
			t.Errorf("%s in %s is %s, %v; want %s", tc.text, tc.zone, got.Format(time.RFC3339), err, tc.want)
		}
	}
}

func TestParseTimeRefuses(t *testing.T) {
	for _, text := range []string{"", "now", "10:00", "23.11.2026", "2026-11-31", "2026-11-23 24:00", "2026-11-23T10:00:00"[:13]} {
		_, err := source.ParseTime(text, zone(t, "Europe/Berlin"))
		if err == nil || !strings.Contains(err.Error(), "Europe/Berlin") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever the clock of a zone shows at an instant is read as the first instant at which it shows that.
func TestParseTimeReadsTheClock(t *testing.T) {
	names := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", "Asia/Kolkata", "America/Havana", "UTC"}
	rapid.Check(t, func(t *rapid.T) {
		location, err := timecalc.LoadZone(rapid.SampledFrom(names).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(1_100_000_000, 2_100_000_000).Draw(t, "second"), 0).In(location)
		if rapid.Bool().Draw(t, "near a change") {
			if _, end := at.ZoneBounds(); !end.IsZero() {
				at = end.Add(time.Duration(rapid.Int64Range(-7200, 7200).Draw(t, "off")) * time.Second)
			}
		}
		text := at.Format(time.DateTime)
		got, err := source.ParseTime(text, location)
		if err != nil || got.Format(time.DateTime) != text || got.After(at) {
			t.Fatalf("%s read as %s, %v", at, got, err)
		}
		for ahead := time.Hour / 4; ahead <= 25*time.Hour; ahead += time.Hour / 4 {
			if earlier := got.Add(-ahead); earlier.Format(time.DateTime) == text {
				t.Fatalf("%s shows %s already", earlier, text)
			}
		}
	})
}

func TestAddDays(t *testing.T) {
	for _, tc := range []struct {
		from string
		days int
		want string
	}{
		{"2026-10-24T12:00:00+02:00", 1, "2026-10-25T12:00:00+01:00"},
		{"2026-10-24T02:30:00+02:00", 1, "2026-10-25T02:30:00+02:00"},
		{"2026-10-25T02:30:00+01:00", 0, "2026-10-25T02:30:00+01:00"},
		{"2026-03-15T00:00:00+01:00", 14, "2026-03-29T00:00:00+01:00"},
		{"2026-03-28T02:30:00+01:00", 1, "2026-03-29T03:00:00+02:00"},
	} {
		from, err := time.Parse(time.RFC3339, tc.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := source.AddDays(from.In(zone(t, "Europe/Berlin")), tc.days); got.Format(time.RFC3339) != tc.want {
			t.Errorf("%d days after %s is %s, want %s", tc.days, tc.from, got.Format(time.RFC3339), tc.want)
		}
	}
}
