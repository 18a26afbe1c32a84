package timeline_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// nights are dates around which clocks do everything that they can: skip and repeat hours, half hours, midnights and a whole date,
// and fall back into the date before.
var nights = []struct{ zone, date string }{
	{"Europe/Berlin", "2027-03-28"},
	{"Europe/Berlin", "2026-10-25"},
	{"America/New_York", "2026-03-08"},
	{"America/New_York", "2026-11-01"},
	{"Australia/Lord_Howe", "2026-10-04"},
	{"Australia/Lord_Howe", "2026-04-05"},
	{"Africa/Cairo", "2026-04-24"},
	{"Africa/Casablanca", "2026-02-15"},
	{"America/Havana", "2026-11-01"},
	{"America/Santiago", "2026-04-05"},
	{"Antarctica/Troll", "2026-03-29"},
	{"Pacific/Apia", "2011-12-30"},
	{"America/St_Johns", "2010-11-07"},
	{"Asia/Kolkata", "2026-06-10"},
	{"UTC", "2026-06-10"},
}

var (
	days  = []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	edges = []string{"00:00", "00:01", "00:30", "01:00", "01:30", "02:00", "02:15", "02:30", "03:00", "04:00", "09:00", "12:00", "17:00", "22:00", "23:00", "23:30", "23:59"}
)

func anyWindow(t *rapid.T, i int) v1beta1.Window {
	label := fmt.Sprint("window ", i)
	w := v1beta1.Window{
		Days:     rapid.SliceOfNDistinct(rapid.SampledFrom(days), 1, 7, rapid.ID).Draw(t, label+" days"),
		Start:    rapid.SampledFrom(edges).Draw(t, label+" start"),
		Replicas: intstr.FromInt32(rapid.Int32Range(0, 3).Draw(t, label+" replicas")),
	}
	w.End = rapid.SampledFrom(append([]string{"24:00"}, edges...)).Filter(func(end string) bool { return end != w.Start }).Draw(t, label+" end")
	if rapid.IntRange(0, 3).Draw(t, label+" abroad") == 0 {
		w.Timezone = rapid.SampledFrom(nights).Draw(t, label+" zone").zone
	}
	return w
}

// anyStretch is one that mostly holds the night, and at times begins and ends between two seconds.
func anyStretch(t *rapid.T, night time.Time) (from, until time.Time) {
	hours := func(label string, of ...int) time.Duration {
		return time.Duration(rapid.SampledFrom(of).Draw(t, label)) * time.Hour
	}
	rest := func(label string) time.Duration {
		return time.Duration(rapid.Int64Range(int64(time.Second), int64(24*time.Hour)).Draw(t, label))
	}
	from = night.Add(-hours("hours before", 24, 48, 0) - rest("and before"))
	if rapid.Bool().Draw(t, "on a quarter of an hour") {
		from = from.Truncate(15 * time.Minute)
	}
	return from, from.Add(hours("hours", 96, 72, 48, 24, 0) + rest("and after"))
}

// read gives a spec to the engine and to the oracle.
func read(t rapid.TB, spec *v1beta1.TimeWindowScalerSpec, holidays []string) (*timeline.Scaler, *oracle) {
	t.Helper()
	reading := schedule.FromSpec(spec, field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	o := &oracle{spec: spec, zone: load(t, spec.Timezone), holidays: holidays}
	for _, w := range spec.Windows {
		var zone *time.Location
		if w.Timezone != "" {
			zone = load(t, w.Timezone)
		}
		o.abroad = append(o.abroad, zone)
	}
	reading.Calendar.Holidays, _ = timecalc.ParseHolidayDates(holidays)
	return &timeline.Scaler{Name: "web", Spec: spec, Calendar: reading.Calendar}, o
}

func load(t rapid.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// Whatever the windows, zones and holidays, through any night in which a clock changes: the timeline is the oracle's.
func TestATimelineIsTheOracles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		night := rapid.SampledFrom(nights).Draw(t, "night")
		spec := &v1beta1.TimeWindowScalerSpec{Timezone: night.zone, DefaultReplicas: intstr.FromInt32(rapid.Int32Range(0, 3).Draw(t, "default"))}
		if rapid.Bool().Draw(t, "seen from elsewhere") {
			spec.Timezone = rapid.SampledFrom(nights).Draw(t, "zone").zone
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "windows") {
			spec.Windows = append(spec.Windows, anyWindow(t, i))
		}
		date, err := time.Parse(time.DateOnly, night.date)
		if err != nil {
			t.Fatal(err)
		}
		mode := rapid.SampledFrom([]v1beta1.HolidayMode{"", v1beta1.HolidayIgnore, v1beta1.HolidayClosed, v1beta1.HolidayOpen}).Draw(t, "mode")
		var holidays []string
		if mode != "" {
			spec.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: &v1beta1.HolidaySource{Name: "h"}}
			for _, day := range rapid.SliceOfN(rapid.IntRange(-2, 3), 0, 3).Draw(t, "holidays") {
				holidays = append(holidays, date.AddDate(0, 0, day).Format(time.DateOnly))
			}
		}
		from, until := anyStretch(t, date)
		scaler, oracle := read(t, spec, holidays)
		got := timeline.Compute(scaler, from, until)
		if diff := cmp.Diff(oracle.walk(from, until), recordOf(got)); diff != "" {
			t.Fatalf("%s %v, holidays %v, %v until %v (-oracle +engine)\n%s", spec.Timezone, spec.Windows, holidays, from, until, diff)
		}
		if at := seamless(got); at != "" {
			t.Fatalf("a gap in the segments, or an end that is not the next start: %s", at)
		}
	})
}

// seamless returns what is wrong with the seams of segments and days, "" if nothing is.
func seamless(t *timeline.Timeline) string {
	at := t.From
	for _, s := range t.Segments {
		if !s.Start.Equal(at) || !s.End.After(s.Start) {
			return fmt.Sprint("segment ", s.Start, " ", s.End)
		}
		at = s.End
	}
	if !at.Equal(t.Until) {
		return fmt.Sprint("last segment ends at ", at)
	}
	sum := int64(0)
	at = t.From
	for _, d := range t.Days {
		if !d.Start.Equal(at) {
			return fmt.Sprint("day ", d.Start)
		}
		at, sum = d.End, sum+d.Seconds
	}
	if !at.Equal(t.Until) || sum != t.Seconds {
		return fmt.Sprint("days end at ", at, " with ", sum)
	}
	return ""
}
