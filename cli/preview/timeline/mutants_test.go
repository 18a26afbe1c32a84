package timeline_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// The oracle has to find what is wrong with these engines, and nothing wrong with them where their mistake does not show.
func TestTheOracleFindsMutants(t *testing.T) {
	type engine func(s timeline.Scaler, from, until time.Time) *timeline.Timeline
	compute := func(s timeline.Scaler, from, until time.Time) *timeline.Timeline {
		return timeline.Compute(&s, from, until)
	}
	homeOnly := func(s timeline.Scaler, from, until time.Time) *timeline.Timeline {
		s.Calendar.Windows = slices.Clone(s.Calendar.Windows)
		for i, w := range s.Calendar.Windows {
			s.Calendar.Windows[i] = w.In(nil)
		}
		return compute(s, from, until)
	}
	oneOffset := func(s timeline.Scaler, from, until time.Time) *timeline.Timeline {
		_, offset := from.In(s.Calendar.Zone).Zone()
		s.Calendar.Zone = time.FixedZone("", offset)
		return compute(s, from, until)
	}
	noHolidays := func(s timeline.Scaler, from, until time.Time) *timeline.Timeline {
		s.Calendar.Holidays = nil
		return compute(s, from, until)
	}
	firstWins := func(s timeline.Scaler, from, until time.Time) *timeline.Timeline {
		s.Calendar.Windows = slices.Clone(s.Calendar.Windows)
		slices.Reverse(s.Calendar.Windows)
		return compute(s, from, until)
	}
	wholeHours := func(s timeline.Scaler, from, until time.Time) *timeline.Timeline {
		return compute(s, from.Truncate(time.Hour), until)
	}
	shortDays := func(s timeline.Scaler, from, until time.Time) *timeline.Timeline { // days of 24 hours, whatever the clock does
		timeline := compute(s, from, until)
		for i := range timeline.Days {
			if day := &timeline.Days[i]; day.Change != nil {
				day.Seconds += int64(day.Change.Amount()/time.Second) * int64(timeline.Segments[0].Replicas)
			}
		}
		return timeline
	}
	quiet, spring := "2026-06-10T00:00:00Z", "2026-03-28T12:00:00Z" // Europe/Berlin
	office := window("09:00", "17:00", 5)
	newYork := window("09:00", "17:00", 7)
	newYork.Timezone = "America/New_York"
	for name, tc := range map[string]struct {
		engine  engine
		from    string
		windows []v1beta1.Window
		wrong   bool
	}{
		"the engine itself":             {compute, spring, []v1beta1.Window{office, newYork}, false},
		"home only, one abroad":         {homeOnly, quiet, []v1beta1.Window{office, newYork}, true},
		"home only, none abroad":        {homeOnly, quiet, []v1beta1.Window{office}, false},
		"one offset, quiet night":       {oneOffset, quiet, []v1beta1.Window{office}, false},
		"one offset, spring":            {oneOffset, spring, []v1beta1.Window{office}, true},
		"no holidays":                   {noHolidays, "2026-12-24T00:00:00Z", []v1beta1.Window{office}, true},
		"no holidays on ordinary days":  {noHolidays, quiet, []v1beta1.Window{office}, false},
		"first wins, overlap":           {firstWins, quiet, []v1beta1.Window{office, window("12:00", "13:00", 9)}, true},
		"whole hours from half an hour": {wholeHours, "2026-06-10T00:30:00Z", []v1beta1.Window{office}, true},
		"days of 24 hours, spring":      {shortDays, spring, []v1beta1.Window{office}, true},
	} {
		spec := &v1beta1.TimeWindowScalerSpec{Timezone: "Europe/Berlin", DefaultReplicas: intstr.FromInt32(2), Windows: tc.windows}
		spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "h"}}
		s, o := read(t, spec, []string{"2026-12-25"})
		from := instant(t, tc.from)
		until := from.Add(72 * time.Hour)
		diff := cmp.Diff(o.walk(from, until), recordOf(tc.engine(*s, from, until)))
		if (diff != "") != tc.wrong {
			t.Errorf("%s: want a difference %t\n%s", name, tc.wrong, diff)
		}
	}
}
