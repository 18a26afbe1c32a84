package preview_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/preview"
	"kyklos.io/kyklos/internal/schedule"
)

func scaler(t *testing.T, zone string, windows ...v1beta1.Window) *preview.Scaler {
	t.Helper()
	spec := &v1beta1.TimeWindowScalerSpec{Timezone: zone, DefaultReplicas: intstr.FromInt32(2), Windows: windows}
	reading := schedule.FromSpec(spec, field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	return &preview.Scaler{Name: "web", Spec: spec, Calendar: reading.Calendar}
}

func every(start, end string, replicas int32) v1beta1.Window {
	return v1beta1.Window{Days: []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, Start: start, End: end, Replicas: intstr.FromInt32(replicas)}
}

// In Berlin the clocks skip from 02:00 to 03:00 on 28 March 2027, and repeat from 03:00 to 02:00 on 31 October.
func TestReasonsInNightsOfClockChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		from   string
		window v1beta1.Window
		want   []string
	}{
		"an end that is skipped": {
			"2027-03-28T00:00:00+01:00", every("01:00", "02:30", 9),
			[]string{"01:00 2>9 WindowEntered", "03:00 9>2 ClockChange"},
		},
		"a start that is skipped": {
			"2027-03-28T00:00:00+01:00", every("02:30", "05:00", 9),
			[]string{"03:00 2>9 ClockChange", "05:00 9>2 WindowLeft"},
		},
		"a start where the clock arrives": {
			"2027-03-28T00:00:00+01:00", every("03:00", "05:00", 9),
			[]string{"03:00 2>9 WindowEntered", "05:00 9>2 WindowLeft"},
		},
		"a start that is repeated": {
			"2027-10-31T00:00:00+02:00", every("02:30", "05:00", 9),
			[]string{"02:30 2>9 WindowEntered", "02:00 9>2 ClockChange", "02:30 2>9 WindowEntered", "05:00 9>2 WindowLeft"},
		},
	} {
		s := scaler(t, "Europe/Berlin", tc.window)
		from, _ := time.Parse(time.RFC3339, tc.from)
		timeline := preview.Compute(s, from, from.Add(12*time.Hour))
		var got []string
		for _, tr := range timeline.Transitions {
			got = append(got, tr.Time.Format("15:04")+" "+itoa(tr.From)+">"+itoa(tr.To)+" "+string(tr.Reason))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func itoa(n int32) string { i := intstr.FromInt32(n); return i.String() }
