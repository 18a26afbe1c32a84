package picture

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

var daily = []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

func window(name, start, end string, replicas int32, days ...v1beta1.Weekday) v1beta1.Window {
	if len(days) == 0 {
		days = daily
	}
	return v1beta1.Window{Name: name, Days: days, Start: start, End: end, Replicas: intstr.FromInt32(replicas)}
}

func spec(zone string, replicas int32, windows ...v1beta1.Window) *v1beta1.TimeWindowScalerSpec {
	return &v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
		Timezone:  zone, DefaultReplicas: intstr.FromInt32(replicas), Windows: windows,
	}
}

// failer is what tests and properties have in common.
type failer interface {
	Helper()
	Fatal(...any)
}

// timeline is what a schedule does for some days from a local date on. Holidays are as listed.
func timelineOf(t failer, spec *v1beta1.TimeWindowScalerSpec, from string, days int, holidays ...string) *timeline.Timeline {
	t.Helper()
	reading := schedule.FromSpec(spec, field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	reading.Calendar.Holidays, _ = timecalc.ParseHolidayDates(holidays)
	begin, err := time.ParseInLocation(time.DateOnly, from, reading.Calendar.Zone)
	if err != nil {
		t.Fatal(err)
	}
	scaler := &timeline.Scaler{Namespace: "default", Name: "web-hours", Spec: spec, Calendar: reading.Calendar}
	return timeline.Compute(scaler, begin, begin.AddDate(0, 0, days))
}

// office is a week of office hours.
func office(t failer) *timeline.Timeline {
	return timelineOf(t, spec("Europe/Berlin", 2, window("", "09:00", "17:00", 10, "Mon", "Tue", "Wed", "Thu", "Fri")), "2026-11-02", 7)
}

// drawn is the scene of one timeline in its own zone.
func drawn(t failer, shown *timeline.Timeline) *scene {
	t.Helper()
	scene, err := picture([]*timeline.Timeline{shown}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return scene
}

// anySchedule draws a schedule in any zone, with up to eight windows and one holiday, over any days of five years.
func anySchedule(t *rapid.T) *timeline.Timeline {
	minutes := rapid.Custom(func(t *rapid.T) string { return clock(60 * int64(rapid.IntRange(0, 24*60-1).Draw(t, "minute"))) })
	windows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) v1beta1.Window {
		start := minutes.Draw(t, "start")
		end := minutes.Filter(func(end string) bool { return end != start }).Draw(t, "end")
		days := rapid.SliceOfNDistinct(rapid.SampledFrom(daily), 1, 7, rapid.ID).Draw(t, "days")
		return window("", start, end, int32(rapid.IntRange(0, 1200).Draw(t, "replicas")), days...)
	}), 1, 8).Draw(t, "windows")
	scheduled := spec(anyZone(t), int32(rapid.IntRange(0, 9).Draw(t, "default")), windows...)
	scheduled.Holidays = &v1beta1.Holidays{
		Mode:      rapid.SampledFrom([]v1beta1.HolidayMode{v1beta1.HolidayIgnore, v1beta1.HolidayClosed, v1beta1.HolidayOpen}).Draw(t, "mode"),
		SourceRef: &v1beta1.HolidaySource{Name: "dates"},
	}
	scheduled.GracePeriodSeconds = rapid.SampledFrom([]int32{0, 300, 7200}).Draw(t, "grace")
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 5*365).Draw(t, "first"))
	holiday := first.AddDate(0, 0, rapid.IntRange(0, 9).Draw(t, "holiday"))
	return timelineOf(t, scheduled, first.Format(time.DateOnly), rapid.IntRange(1, 10).Draw(t, "days"), holiday.Format(time.DateOnly))
}

func anyZone(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Asia/Kolkata", "Africa/Cairo", "America/Santiago",
		"Pacific/Chatham", "Asia/Beirut", "America/Scoresbysund", "Antarctica/Troll",
	}).Draw(t, "zone")
}

func TestCheck(t *testing.T) {
	long := timelineOf(t, spec("UTC", 1, window("", "09:00", "17:00", 2)), "2026-11-02", maxDays+1)
	for name, tc := range map[string]struct {
		timelines []*timeline.Timeline
		want      string
	}{
		"nothing": {nil, "no TimeWindowScaler to draw"},
		"no time": {
			[]*timeline.Timeline{timelineOf(t, long.Scaler.Spec, "2026-11-02", 0)},
			"web-hours: nothing to draw between 2026-11-02T00:00:00Z and 2026-11-02T00:00:00Z",
		},
		"too much time": {[]*timeline.Timeline{office(t), long}, "a picture shows at most 35 days: use fewer, or -o table, json or ics"},
	} {
		for format, write := range writers {
			var out strings.Builder
			if err := write(&out, tc.timelines, nil); err == nil || err.Error() != tc.want || out.Len() > 0 {
				t.Errorf("%s as %s: %v and %d bytes, want %s", name, format, err, out.Len(), tc.want)
			}
		}
	}
	// 35 days of a zone whose clock does not change, where the schedule's is put forward.
	berlin := office(t).Scaler
	begin := time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	if err := check([]*timeline.Timeline{timeline.Compute(berlin, begin, begin.AddDate(0, 0, maxDays))}); err != nil {
		t.Error(err)
	}
}

func TestTheSameTimelinesGiveTheSameBytes(t *testing.T) {
	for format, write := range writers {
		var first, second strings.Builder
		for _, out := range []*strings.Builder{&first, &second} {
			if err := write(out, []*timeline.Timeline{office(t), office(t)}, time.UTC); err != nil {
				t.Fatal(err)
			}
		}
		if first.String() != second.String() {
			t.Errorf("two pictures as %s differ", format)
		}
	}
}
