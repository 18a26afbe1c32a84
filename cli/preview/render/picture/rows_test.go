package picture

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

// Every minute is in exactly one row, at the place that the clock shows then, and rows follow the clock.
func TestRowsAreTheClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, err := timecalc.LoadZone(anyZone(t))
		if err != nil {
			t.Fatal(err)
		}
		from := time.Unix(rapid.Int64Range(1_600_000_000, 1_900_000_000).Draw(t, "from"), 0)
		until := from.Add(time.Duration(rapid.IntRange(1, 9*24*60).Draw(t, "minutes")) * time.Minute)
		rows := rowsOf(from, until, zone)
		minutes := 0
		for _, r := range rows {
			last := int64(-1)
			for _, p := range r.pieces {
				if p.from < last {
					t.Fatalf("in a row, the clock goes back to %s", clock(p.from))
				}
				last = p.to
				for at := p.start; at.Before(p.end); at = at.Add(time.Minute) {
					local := at.In(zone)
					shown := int64(local.Hour()*3600 + local.Minute()*60 + local.Second())
					if place := p.from + at.Unix() - p.start.Unix(); place != shown || !sameDate(local, r.date) {
						t.Fatalf("%s is drawn at %s of %s", local, clock(place), r.date.Format(time.DateOnly))
					}
					minutes++
				}
			}
		}
		for i, at := 0, from; at.Before(until); at = at.Add(7 * time.Minute) {
			for i < len(rows)-1 && !at.Before(rows[i+1].pieces[0].start) {
				i++
			}
			if !contains(rows[i], at) {
				t.Fatalf("%s is in no row", at.In(zone))
			}
		}
		if want := int(until.Sub(from).Minutes()); minutes < want || minutes > want+2*len(rows) {
			t.Fatalf("%d minutes in rows, of %d", minutes, want)
		}
	})
}

func contains(r row, at time.Time) bool {
	for _, p := range r.pieces {
		if !at.Before(p.start) && at.Before(p.end) {
			return true
		}
	}
	return false
}

func TestRowsOfOddNights(t *testing.T) {
	for name, tc := range map[string]struct {
		zone, from string
		days       int
		want       []string
	}{
		"an hour is left out": {"Europe/Berlin", "2027-03-27", 3, []string{
			"27 00:00-24:00", "28 00:00-02:00 03:00-24:00 without 02:00-03:00 +1h", "29 00:00-24:00",
		}},
		"an hour comes twice": {"Europe/Berlin", "2026-10-24", 3, []string{
			"24 00:00-24:00", "25 00:00-03:00 turns", "25 02:00-24:00 -1h again", "26 00:00-24:00",
		}},
		"half an hour":         {"Australia/Lord_Howe", "2026-10-04", 1, []string{"04 00:00-02:00 02:30-24:00 without 02:00-02:30 +30m"}},
		"half an hour, twice":  {"Australia/Lord_Howe", "2027-04-04", 1, []string{"04 00:00-02:00 turns", "04 01:30-24:00 -30m again"}},
		"midnight is left out": {"Africa/Cairo", "2027-04-29", 2, []string{"29 00:00-24:00", "30 01:00-24:00 without 00:00-01:00 +1h"}},
		"midnight comes twice": {"America/Havana", "2026-11-01", 1, []string{"01 00:00-01:00 turns", "01 00:00-24:00 -1h again"}},
		"the last hour comes twice": {"America/Scoresbysund", "2026-10-24", 2, []string{
			"24 00:00-24:00 turns", "24 23:00-24:00 -1h again", "25 00:00-24:00",
		}},
		"the last hour is left out": {"America/Nuuk", "2027-03-27", 2, []string{"27 00:00-23:00 without 23:00-24:00 +1h", "28 00:00-24:00 +1h"}},
		"a date is left out":        {"Pacific/Apia", "2011-12-29", 3, []string{"29 00:00-24:00", "31 00:00-24:00 +24h"}},
	} {
		zone, err := timecalc.LoadZone(tc.zone)
		if err != nil {
			t.Fatal(err)
		}
		from, _ := time.ParseInLocation(time.DateOnly, tc.from, zone)
		var got []string
		for _, r := range rowsOf(from, from.AddDate(0, 0, tc.days), zone) {
			got = append(got, described(r))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func described(r row) string {
	var text strings.Builder
	text.WriteString(r.date.Format("02"))
	for _, p := range r.pieces {
		fmt.Fprintf(&text, " %s-%s", clock(p.from), clock(p.to))
	}
	for _, s := range r.skips {
		fmt.Fprintf(&text, " without %s-%s", clock(s.from), clock(s.to))
	}
	if r.jump != 0 {
		fmt.Fprintf(&text, " %+.0f", r.jump.Minutes())
	}
	if r.again {
		text.WriteString(" again")
	}
	if r.turns {
		text.WriteString(" turns")
	}
	return strings.NewReplacer(" +60", " +1h", " -60", " -1h", " +30", " +30m", " -30", " -30m", " +1440", " +24h").Replace(text.String())
}
