package timecalc_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/timecalc"
)

func TestIrregularEdges(t *testing.T) {
	night := spec{weekdays, "02:30", "04:30", 1}
	tests := []struct {
		name, zone, from, until string
		set                     []spec
		want                    []string // kind window edge date time: instants
	}{
		{
			"a year in New York", "America/New_York", "2026-01-01", "2027-01-01",
			[]spec{night, {weekdays, "22:00", "01:30", 1}, {[]string{"Sat"}, "22:00", "02:30", 1}, {[]string{"Fri"}, "22:00", "02:30", 1}},
			[]string{
				"skipped 0 start 2026-03-08 02:30: 03:00-04:00",
				"skipped 2 end 2026-03-08 02:30: 03:00-04:00",
				"repeated 1 end 2026-11-01 01:30: 01:30-04:00 01:30-05:00",
			},
		},
		{
			"only some days", "Europe/Berlin", "2026-01-01", "2027-01-01", []spec{{[]string{"Mon"}, "02:30", "04:30", 1}}, nil,
		},
		{
			"from counts, until does not", "Europe/Berlin", "2026-03-29", "2026-10-25", []spec{night},
			[]string{"skipped 0 start 2026-03-29 02:30: 03:00+02:00"},
		},
		{
			"a window inside a gap does not run", "Europe/Berlin", "2026-03-01", "2026-04-01", []spec{{weekdays, "02:15", "02:45", 1}},
			[]string{"skipped 0 start 2026-03-29 02:15: 03:00+02:00", "skipped 0 end 2026-03-29 02:45: 03:00+02:00"},
		},
		{
			"an edge on the rim of a gap", "Europe/Berlin", "2026-03-01", "2026-04-01", []spec{{weekdays, "02:00", "03:00", 1}},
			[]string{"skipped 0 start 2026-03-29 02:00: 03:00+02:00"},
		},
		{
			"open across the whole repeated hour", "Europe/Berlin", "2026-10-01", "2026-11-01", []spec{{weekdays, "02:00", "03:00", 1}}, nil,
		},
		{
			"a repeated hour over midnight", "America/Santiago", "2026-04-01", "2026-05-01",
			[]spec{{[]string{"Sat"}, "23:30", "06:00", 1}},
			[]string{"repeated 0 start 2026-04-04 23:30: 23:30-03:00 23:30-04:00"},
		},
		{
			"a date that does not exist", "Pacific/Apia", "2011-12-01", "2012-01-01",
			[]spec{{[]string{"Fri"}, "09:00", "17:00", 1}, {[]string{"Thu"}, "22:00", "02:00", 1}, {[]string{"Sat"}, "09:00", "17:00", 1}},
			[]string{
				"skipped 0 start 2011-12-30 09:00: 00:00+14:00",
				"skipped 0 end 2011-12-30 17:00: 00:00+14:00",
				"skipped 1 end 2011-12-30 02:00: 00:00+14:00",
			},
		},
		{
			"the end of a day whose midnight is skipped, and the next days listed or not", "Africa/Cairo", "2026-04-01", "2026-05-01",
			[]spec{{[]string{"Thu"}, "18:00", "24:00", 1}, {[]string{"Thu"}, "00:00", "24:00", 1}, {[]string{"Thu", "Fri"}, "00:00", "24:00", 1}},
			[]string{
				"skipped 0 end 2026-04-24 00:00: 01:00+03:00",
				"skipped 1 end 2026-04-24 00:00: 01:00+03:00",
			},
		},
		{
			"a day with two midnights", "America/Havana", "2026-10-01", "2026-12-01",
			[]spec{{[]string{"Sat"}, "18:00", "24:00", 1}, {[]string{"Sun"}, "00:00", "24:00", 1}}, nil,
		},
		{
			"a day that returns after its midnight", "America/St_Johns", "1988-10-01", "1988-11-15",
			[]spec{{[]string{"Sat"}, "18:00", "24:00", 1}},
			[]string{"repeated 0 end 1988-10-30 00:00: 00:00-01:30 00:00-03:30"},
		},
		{"no clock changes", "UTC", "2020-01-01", "2030-01-01", []spec{night}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			zone := mustZone(t, tt.zone)
			from, until := dateIn(t, zone, tt.from), dateIn(t, zone, tt.until)
			if tt.name == "from counts, until does not" {
				from, until = changesAt(zone, from), changesAt(zone, until)
			}
			var got []string
			for _, e := range timecalc.IrregularEdges(newSchedule(tt.set).windows, zone, from, until) {
				got = append(got, edgeText(e))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error("want -, got +\n" + diff)
			}
		})
	}
}

// TestIrregularEdgesAbroad: each window meets the clock changes of its own zone, in its own zone's time.
func TestIrregularEdgesAbroad(t *testing.T) {
	berlin := mustZone(t, "Europe/Berlin")
	night := mustWindow(t, daily, "02:30", "04:30", 1)
	windows := []timecalc.TimeWindow{night, night.In(mustZone(t, "America/New_York")), night.In(mustZone(t, "Asia/Tokyo"))}
	var got []string
	for _, e := range timecalc.IrregularEdges(windows, berlin, dateIn(t, berlin, "2026-01-01"), dateIn(t, berlin, "2026-11-01")) {
		got = append(got, edgeText(e))
	}
	want := []string{
		"skipped 1 start 2026-03-08 02:30: 03:00-04:00",
		"skipped 0 start 2026-03-29 02:30: 03:00+02:00",
		"repeated 0 start 2026-10-25 02:30: 02:30+02:00 02:30+01:00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("want -, got +\n" + diff)
	}
}

func dateIn(t *testing.T, zone *time.Location, date string) time.Time {
	t.Helper()
	return clock(t, zone, date+" 00:00")
}

// changesAt returns the instant of the first change of offset after t, found minute by minute.
func changesAt(zone *time.Location, t time.Time) time.Time {
	_, offset := t.Zone()
	for {
		t = t.Add(time.Minute)
		if _, now := t.In(zone).Zone(); now != offset {
			return t
		}
	}
}

func edgeText(e timecalc.IrregularEdge) string {
	text := e.Kind + " " + string(rune('0'+e.Window)) + " " + e.Edge + " " + e.Date + " " + e.Time + ":"
	for _, at := range e.At {
		text += " " + at.Format("15:04Z07:00")
	}
	return text
}

// TestIrregularEdgesAgainstEveryMinute finds the same edges by reading the clock.
func TestIrregularEdgesAgainstEveryMinute(t *testing.T) {
	var timelines []timeline
	for _, s := range append(oddStretches(t), changesBetween(mustZone(t, "America/Havana"), 2026, 2026)...) {
		if tl := observe(s); tl.step == 60 { // an offset with seconds shows a time of day without its first second
			timelines = append(timelines, tl)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tl := rapid.SampledFrom(timelines).Draw(t, "stretch")
		set := newSchedule([]spec{anySpec.Draw(t, "window")})
		home := tl.zone
		if rapid.Bool().Draw(t, "in a zone of its own") {
			set.in(tl.zone)
			home = time.UTC
		}
		got := map[string][]int64{}
		for _, e := range timecalc.IrregularEdges(set.windows, home, timeAt(tl.from, tl.zone), timeAt(tl.to, tl.zone)) {
			for _, at := range e.At {
				got[e.Kind+" "+e.Edge+" "+e.Date] = append(got[e.Kind+" "+e.Edge+" "+e.Date], at.Unix())
			}
		}
		if diff := cmp.Diff(tl.irregular(set), got); diff != "" {
			t.Fatalf("%s, oracle -, engine +\n%s", tl.name, diff)
		}
	})
}

// irregular returns when the edges of the one window of a schedule act, for the dates inside the
// stretch on which that is not exactly once and at the edge's own time.
func (tl timeline) irregular(set *schedule) map[string][]int64 {
	found := map[string][]int64{}
	w := set.specs[0]
	first := time.Unix(tl.from, 0).UTC().AddDate(0, 0, -1)
	for day := first; day.Unix() < tl.to+24*3600; day = day.AddDate(0, 0, 1) {
		date := day.Year()*10000 + int(day.Month())*100 + day.Day()
		for edge, hhmm := range map[string]string{"start": w.start, "end": w.end} {
			startDay := day
			if edge == "end" && (w.end < w.start || w.end == "24:00") {
				startDay, hhmm = day.AddDate(0, 0, -1), strings.Replace(hhmm, "24:00", "00:00", 1)
			}
			if !w.listed(startDay) {
				continue
			}
			wholeDay := w.start == "00:00" && w.end == "24:00"
			if wholeDay && w.listed(day) && w.listed(day.AddDate(0, 0, -1)) {
				continue // one whole day continues into the next: no edge
			}
			shown, acts, jump := tl.find(set, date, slices.Index(clockFaces[:], hhmm))
			key := edge + " " + day.Format(time.DateOnly)
			if !shown && jump > 0 {
				found["skipped "+key] = []int64{jump}
			}
			if len(acts) > 1 {
				found["repeated "+key] = acts
			}
		}
	}
	return found
}

func (s spec) listed(day time.Time) bool { return slices.Contains(s.days, day.Weekday().String()[:3]) }

// find searches the timeline for one time of day on one date: whether the clock ever shows it, at which
// of its occurrences the coverage changes, and at which instant the clock jumps over it.
func (tl timeline) find(set *schedule, date, minute int) (shown bool, acts []int64, jump int64) {
	label := date*10000 + minute
	for i := 1; i < tl.count(); i++ {
		before, now := tl.readings[i-1], tl.readings[i]
		from, to := before.date*10000+before.minute, now.date*10000+now.minute
		if to == label {
			shown = true
			if set.covering[before.weekday][before.minute] != set.covering[now.weekday][now.minute] {
				acts = append(acts, tl.unix(i))
			}
		}
		if from < label && label < to {
			jump = tl.unix(i)
		}
	}
	return shown, acts, jump
}
