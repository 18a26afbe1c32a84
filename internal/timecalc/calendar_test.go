package timecalc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

func TestParseHolidayDates(t *testing.T) {
	dates, invalid := timecalc.ParseHolidayDates([]string{
		"2026-12-25", "xmas", "2028-02-29", "2026-02-29", "2026-1-1", "2026-12-25T00:00:00Z", "", " 2026-12-26", "2026-13-01", "02026-01-01",
	})
	if len(dates) != 2 || !dates["2026-12-25"] || !dates["2028-02-29"] {
		t.Errorf("dates = %v", dates)
	}
	want := []string{"", " 2026-12-26", "02026-01-01", "2026-02-29", "2026-1-1", "2026-12-25T00:00:00Z", "2026-13-01", "xmas"}
	if !slices.Equal(invalid, want) {
		t.Errorf("invalid = %q, want %q", invalid, want)
	}
	if dates, invalid := timecalc.ParseHolidayDates(nil); dates == nil || len(dates) != 0 || invalid != nil {
		t.Errorf("no keys: %v, %v", dates, invalid)
	}
}

func TestCalendarAtAndLabel(t *testing.T) {
	zone := mustZone(t, "Europe/Berlin")
	office := mustWindow(t, "Mon,Tue,Wed,Thu,Fri", "09:00", "17:00", 10)
	night := mustWindow(t, daily, "22:00", "02:00", 5)
	open := []timecalc.TimeWindow{night, office}
	holidays := map[string]bool{"2026-12-25": true} // a Friday
	tests := []struct {
		at, mode  string
		want      timecalc.Verdict
		wantLabel string
	}{
		{"2026-12-24 10:00", timecalc.HolidayClosed, timecalc.Verdict{Replicas: 10, Window: 1}, "BusinessHours"},
		{"2026-12-24 20:00", timecalc.HolidayClosed, timecalc.Verdict{Replicas: 3, Window: -1}, "OffHours"},
		{"2026-12-24 23:59", timecalc.HolidayClosed, timecalc.Verdict{Replicas: 5, Window: 0}, "Custom-1e7fc8"},
		{"2026-12-25 00:00", timecalc.HolidayClosed, timecalc.Verdict{Replicas: 3, Window: -1, Holiday: "2026-12-25", Override: true}, "OffHours"},
		{"2026-12-25 10:00", timecalc.HolidayOpen, timecalc.Verdict{Replicas: 10, Window: -1, Holiday: "2026-12-25", Override: true}, "Holiday"},
		{"2026-12-25 10:00", timecalc.HolidayIgnore, timecalc.Verdict{Replicas: 10, Window: 1, Holiday: "2026-12-25"}, "BusinessHours"},
		{"2026-12-25 20:00", "", timecalc.Verdict{Replicas: 3, Window: -1, Holiday: "2026-12-25"}, "OffHours"},
		{"2026-12-26 00:00", timecalc.HolidayOpen, timecalc.Verdict{Replicas: 5, Window: 0}, "Custom-1e7fc8"},
	}
	for _, tt := range tests {
		t.Run(tt.at+" "+tt.mode, func(t *testing.T) {
			c := timecalc.Calendar{Zone: zone, Windows: open, DefaultReplicas: 3, HolidayMode: tt.mode, Holidays: holidays}
			got := c.At(clock(t, zone, tt.at).UTC())
			if got != tt.want {
				t.Errorf("At = %+v, want %+v", got, tt.want)
			}
			if label := c.Label(got); label != tt.wantLabel {
				t.Errorf("Label = %s, want %s", label, tt.wantLabel)
			}
		})
	}
}

// TestBusinessHours: the label goes to the first listed window that qualifies, and to no other (B7).
func TestBusinessHours(t *testing.T) {
	windows := []timecalc.TimeWindow{
		mustWindow(t, "Sat", "09:00", "17:00", 1),
		mustWindow(t, "Mon", "22:00", "13:00", 1),
		mustWindow(t, "Mon", "12:00", "17:00", 1),
		mustWindow(t, "Mon", "08:00", "12:00", 1),
		mustWindow(t, "Mon,Fri", "11:59", "12:01", 1),
		mustWindow(t, "Mon,Tue", "09:00", "17:00", 1),
	}
	c := timecalc.Calendar{Zone: time.UTC, Windows: windows}
	labels := map[string]bool{}
	for i := range windows {
		label := c.Label(timecalc.Verdict{Window: i})
		if (label == timecalc.LabelBusinessHours) != (i == 4) {
			t.Errorf("window %d, %v: %s", i, windows[i], label)
		}
		labels[label] = true
	}
	if len(labels) != len(windows) {
		t.Errorf("labels are not distinct: %v", labels)
	}
	moved := timecalc.Calendar{Zone: time.UTC, Windows: windows[:1]}
	if got, want := moved.Label(timecalc.Verdict{}), c.Label(timecalc.Verdict{}); got != want {
		t.Errorf("a label depends on the other windows: %s, %s", got, want)
	}
	moved.Zone = mustZone(t, "Asia/Tokyo")
	if moved.Label(timecalc.Verdict{}) == c.Label(timecalc.Verdict{}) {
		t.Error("a label does not depend on the zone")
	}
}

// TestNames: a window's own name is its label, and changes nothing else (B7).
func TestNames(t *testing.T) {
	office := mustWindow(t, "Mon,Tue,Wed,Thu,Fri", "09:00", "17:00", 10)
	late := mustWindow(t, "Mon,Tue,Wed,Thu,Fri", "10:00", "19:00", 5)
	night := mustWindow(t, daily, "22:00", "02:00", 5)
	tests := []struct {
		name    string
		windows []timecalc.TimeWindow
		want    []string
	}{
		{"no names", []timecalc.TimeWindow{office, night}, []string{"BusinessHours", "Custom-1e7fc8"}},
		{"a name", []timecalc.TimeWindow{office, night.Named("Night")}, []string{"BusinessHours", "Night"}},
		{"a name taken away", []timecalc.TimeWindow{office, night.Named("Night").Named("")}, []string{"BusinessHours", "Custom-1e7fc8"}},
		{"a named first window keeps BusinessHours from the second", []timecalc.TimeWindow{office.Named("Office"), late}, []string{"Office", "Custom-e46c5e"}},
		{"BusinessHours belongs to the window with that name", []timecalc.TimeWindow{office, night.Named("BusinessHours")}, []string{"Custom-107c6f", "BusinessHours"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := timecalc.Calendar{Zone: mustZone(t, "Europe/Berlin"), Windows: tt.windows}
			for i, want := range tt.want {
				got := c.Label(timecalc.Verdict{Window: i})
				if got != want || timecalc.IsHash(got) != strings.HasPrefix(want, "Custom-") {
					t.Errorf("window %d: %s, want %s; a hash: %t", i, got, want, timecalc.IsHash(got))
				}
				if got := c.Label(timecalc.Verdict{Window: i, Override: true}); got != timecalc.LabelOffHours {
					t.Errorf("window %d on a closed holiday: %s", i, got)
				}
			}
		})
	}
}

// TestLabelsAbroad: a label distinguishes windows of different zones, by the zones' names and not by their
// pointers, and business hours are those of the window's own clock.
func TestLabelsAbroad(t *testing.T) {
	tokyo, again, berlin := mustZone(t, "Asia/Tokyo"), mustZone(t, "Asia/Tokyo"), mustZone(t, "Europe/Berlin")
	night := mustWindow(t, daily, "22:00", "02:00", 5)
	label := func(home *time.Location, w timecalc.TimeWindow) string {
		c := timecalc.Calendar{Zone: home, Windows: []timecalc.TimeWindow{w}}
		return c.Label(timecalc.Verdict{})
	}
	if label(berlin, night) == label(berlin, night.In(tokyo)) {
		t.Error("a label does not depend on the window's zone")
	}
	for _, same := range []string{label(berlin, night.In(again)), label(tokyo, night), label(tokyo, night.In(again))} {
		if want := label(berlin, night.In(tokyo)); same != want {
			t.Errorf("a night in Tokyo is %s, and %s where Tokyo is written elsewhere", want, same)
		}
	}
	office := mustWindow(t, "Mon,Tue,Wed,Thu,Fri", "09:00", "17:00", 10).In(tokyo)
	if got := label(berlin, office); got != timecalc.LabelBusinessHours {
		t.Errorf("Tokyo's office hours are %s in a schedule of Berlin", got)
	}
}

func TestNextWakeUp(t *testing.T) {
	zone := mustZone(t, "Europe/Berlin")
	night := []timecalc.TimeWindow{mustWindow(t, daily, "22:00", "02:00", 5)}
	now := clock(t, zone, "2026-12-24 23:00")
	tests := []struct {
		name, mode, grace, want string
	}{
		{"boundary", timecalc.HolidayIgnore, "", "2026-12-25 02:00"},
		{"no mode", "", "", "2026-12-25 02:00"},
		{"holidays count: the next date", timecalc.HolidayClosed, "", "2026-12-25 00:00"},
		{"grace first", timecalc.HolidayOpen, "2026-12-24 23:05", "2026-12-24 23:05"},
		{"grace later", timecalc.HolidayIgnore, "2026-12-25 03:00", "2026-12-25 02:00"},
		{"grace over", timecalc.HolidayIgnore, "2026-12-24 23:00", "2026-12-25 02:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := timecalc.Calendar{Zone: zone, Windows: night, HolidayMode: tt.mode}
			var grace *time.Time
			if tt.grace != "" {
				expiry := clock(t, zone, tt.grace).UTC()
				grace = &expiry
			}
			if got, want := c.NextWakeUp(now.UTC(), grace), clock(t, zone, tt.want); !got.Equal(want) || got.Location() != zone {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// TestWakeUpsMissNothing walks from wake-up to wake-up across clock changes, with holidays and windows
// in another zone, and checks at every minute that the verdict of the last wake-up still holds and is the
// oracle's. The holidays are dates of the schedule's zone (B6).
func TestWakeUpsMissNothing(t *testing.T) {
	stretches := oddStretches(t)
	for _, name := range oddZones {
		stretches = append(stretches, changesBetween(mustZone(t, name), 2026, 2026)...)
	}
	abroad := mustZone(t, "Australia/Lord_Howe")
	timelines := make(map[string]timeline, len(stretches)) // reading clocks is slow, so once each
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(stretches).Draw(t, "stretch")
		set := anyAbroad(nil, abroad).Draw(t, "windows")
		c := timecalc.Calendar{
			Zone: s.zone, Windows: set.windows,
			HolidayMode: rapid.SampledFrom([]string{timecalc.HolidayIgnore, timecalc.HolidayClosed, timecalc.HolidayOpen}).Draw(t, "mode"),
			Holidays:    map[string]bool{},
		}
		tl, ok := timelines[s.name]
		if !ok {
			tl = observe(s, abroad)
			timelines[s.name] = tl
		}
		covering := tl.coverings(set)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, tl.count()-1), 0, 3).Draw(t, "holidays at") {
			c.Holidays[isoDate(tl.readings[i])] = true
		}
		wake := timeAt(tl.from, tl.zone)
		verdict := c.At(wake)
		wake = c.NextWakeUp(wake, nil)
		for i := 0; i < tl.count(); i += int(60 / tl.step) {
			now := timeAt(tl.unix(i), tl.zone)
			for !now.Before(wake) {
				verdict = c.At(wake)
				next := c.NextWakeUp(wake, nil)
				if !next.After(wake) || next.Sub(wake) > 24*time.Hour {
					t.Fatalf("the wake-up after %v is %v", wake, next)
				}
				wake = next
			}
			r := tl.readings[i]
			want := set.replicas(covering[i])
			if c.Holidays[isoDate(r)] && c.HolidayMode != timecalc.HolidayIgnore {
				want = 0
				for _, w := range set.specs {
					if c.HolidayMode == timecalc.HolidayOpen {
						want = max(want, w.replicas)
					}
				}
			}
			if verdict.Replicas != want {
				t.Fatalf("%v: last verdict %+v, the oracle wants %d", now, verdict, want)
			}
		}
	})
}

func isoDate(r reading) string {
	return fmt.Sprintf("%04d-%02d-%02d", r.date/10000, r.date/100%100, r.date%100)
}
