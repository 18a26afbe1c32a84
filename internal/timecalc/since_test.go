package timecalc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

const workdays = "Mon,Tue,Wed,Thu,Fri"

func TestSince(t *testing.T) {
	zone := mustZone(t, "Europe/Berlin")
	office := []timecalc.TimeWindow{mustWindow(t, workdays, "09:00", "17:00", 1)}
	lunch := append(office, mustWindow(t, workdays, "12:00", "13:00", 1))
	always := []timecalc.TimeWindow{mustWindow(t, daily, "00:00", "24:00", 1)}
	night := []timecalc.TimeWindow{mustWindow(t, daily, "02:30", "04:00", 1)}
	christmas := map[string]bool{"2026-12-24": true, "2026-12-25": true}
	tests := []struct {
		name    string
		windows []timecalc.TimeWindow
		mode    string
		now     string
		want    string // "" for none
	}{
		{"in a window", office, "", "2026-07-06 10:00", "2026-07-06 09:00"},
		{"at its start", office, "", "2026-07-06 09:00", "2026-07-06 09:00"},
		{"at its end", office, "", "2026-07-06 17:00", "2026-07-06 17:00"},
		{"on a Sunday", office, "", "2026-07-05 23:59", "2026-07-03 17:00"},
		{"a window within another", lunch, "", "2026-07-06 12:30", "2026-07-06 12:00"},
		{"the other takes over again", lunch, "", "2026-07-06 16:00", "2026-07-06 13:00"},
		{"a window that never ends", always, "", "2026-07-06 10:00", ""},
		{"a start that the clock skips", night, "", "2026-03-29 03:30", "2026-03-29 03:00"},
		{"a closed holiday goes on from the evening before", office, timecalc.HolidayClosed, "2026-12-25 10:00", "2026-12-23 17:00"},
		{"open holidays are one", office, timecalc.HolidayOpen, "2026-12-25 10:00", "2026-12-24 00:00"},
		{"and end at midnight", office, timecalc.HolidayOpen, "2026-12-26 10:00", "2026-12-26 00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := timecalc.Calendar{Zone: zone, Windows: tt.windows, HolidayMode: tt.mode, Holidays: christmas}
			got, want := c.Since(clock(t, zone, tt.now).UTC()), time.Time{}
			if tt.want != "" {
				want = clock(t, zone, tt.want)
			}
			if !got.Equal(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// The oracle checks every minute, backwards, for the first with another label.
func TestSinceAgainstEveryMinute(t *testing.T) {
	zone := mustZone(t, "Europe/Berlin")
	rapid.Check(t, func(t *rapid.T) {
		c := timecalc.Calendar{
			Zone: zone, Holidays: map[string]bool{},
			HolidayMode: rapid.SampledFrom([]string{"", timecalc.HolidayClosed, timecalc.HolidayOpen}).Draw(t, "mode"),
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "windows") {
			start, end := rapid.IntRange(0, 1439).Draw(t, "start"), rapid.IntRange(0, 1440).Draw(t, "end")
			days := rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Split(daily, ",")), 1, 7, rapid.ID[string]).Draw(t, "days")
			w, err := timecalc.ParseWindow(days, clockText(start), clockText(end), 1)
			if err != nil {
				t.Skip("a window of no length")
			}
			c.Windows = append(c.Windows, w.Named(fmt.Sprintf("w%d", i)))
		}
		// Two changes of the clocks lie in these weeks.
		first := time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)
		if rapid.Bool().Draw(t, "autumn") {
			first = time.Date(2026, 10, 16, 0, 0, 0, 0, time.UTC)
		}
		for _, day := range rapid.SliceOfN(rapid.IntRange(0, 14), 0, 3).Draw(t, "holidays") {
			c.Holidays[first.AddDate(0, 0, day).Format(time.DateOnly)] = true
		}
		now := first.Add(time.Duration(rapid.IntRange(0, 14*1440).Draw(t, "minute")) * time.Minute)
		label, want := c.Label(c.At(now)), time.Time{}
		for at := now; at.After(now.AddDate(0, 0, -31)); at = at.Add(-time.Minute) {
			if c.Label(c.At(at.Add(-time.Minute))) != label {
				want = at
				break
			}
		}
		if got := c.Since(now); !got.Equal(want) {
			t.Fatalf("at %v: got %v, want %v", now.In(zone), got, want)
		}
	})
}

func clockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
