package diff_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/diff"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

type tester interface {
	Helper()
	Fatal(args ...any)
}

// monday is a Monday, three weeks before the clocks of New York change and five before those of Berlin.
var monday = time.Date(2027, 2, 22, 0, 0, 0, 0, time.UTC)

func spec(zone string, windows ...v1beta1.Window) *v1beta1.TimeWindowScalerSpec {
	return &v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{Kind: "Deployment", Name: "web"},
		Timezone:  zone, DefaultReplicas: intstr.FromInt32(2), Windows: windows,
	}
}

func window(days, start, end string, replicas int32) v1beta1.Window {
	all := []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	if days == "weekdays" {
		all = all[:5]
	}
	return v1beta1.Window{Days: all, Start: start, End: end, Replicas: intstr.FromInt32(replicas)}
}

func named(name string, w v1beta1.Window) v1beta1.Window {
	w.Name = name
	return w
}

func timelineOf(t tester, name string, spec *v1beta1.TimeWindowScalerSpec, days int, holidays ...string) *timeline.Timeline {
	t.Helper()
	reading := schedule.FromSpec(spec, field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	scaler := &timeline.Scaler{Namespace: "shop", Name: name, Spec: spec, Calendar: reading.Calendar}
	scaler.Calendar.Holidays, _ = timecalc.ParseHolidayDates(holidays)
	return timeline.Compute(scaler, monday, monday.AddDate(0, 0, days))
}

// one compares one scaler before and after a change, and returns what happens to it.
func one(t *testing.T, before, after *timeline.Timeline) diff.Scaler {
	t.Helper()
	d := diff.Compare([]*timeline.Timeline{before}, []*timeline.Timeline{after})
	if len(d.Scalers) != 1 {
		t.Fatalf("%d scalers, want one", len(d.Scalers))
	}
	return d.Scalers[0]
}

// stepLines is each step in a line.
func stepLines(s diff.Scaler) (lines []string) {
	show := func(t *timeline.Transition) string {
		if t == nil {
			return "-"
		}
		return fmt.Sprintf("%s %d>%d", t.Time.Format("Mon 15:04"), t.From, t.To)
	}
	for _, step := range s.Steps {
		lines = append(lines, fmt.Sprintf("%s %s, %s", step.Kind, show(step.Before), show(step.After)))
	}
	return lines
}

func TestSteps(t *testing.T) {
	office, lunch := window("weekdays", "09:00", "17:00", 10), window("weekdays", "12:00", "14:00", 20)
	for name, tc := range map[string]struct {
		before, after []v1beta1.Window
		want          []string
	}{
		"nothing": {[]v1beta1.Window{office}, []v1beta1.Window{office}, nil},
		"another start": {
			[]v1beta1.Window{office}, []v1beta1.Window{window("weekdays", "08:30", "17:00", 10)},
			[]string{"moved Mon 09:00 2>10, Mon 08:30 2>10"},
		},
		"another end": {
			[]v1beta1.Window{office}, []v1beta1.Window{window("weekdays", "09:00", "21:30", 10)},
			[]string{"moved Mon 17:00 10>2, Mon 21:30 10>2"},
		},
		"half a day later": {
			[]v1beta1.Window{window("weekdays", "00:30", "08:00", 10)}, []v1beta1.Window{window("weekdays", "12:30", "20:00", 10)},
			[]string{"removed Mon 00:30 2>10, -", "removed Mon 08:00 10>2, -", "added -, Mon 12:30 2>10", "added -, Mon 20:00 10>2"},
		},
		"another count": {
			[]v1beta1.Window{office}, []v1beta1.Window{window("weekdays", "09:00", "17:00", 12)},
			[]string{"changed Mon 09:00 2>10, Mon 09:00 2>12", "changed Mon 17:00 10>2, Mon 17:00 12>2"},
		},
		"another count and another start": {
			[]v1beta1.Window{office}, []v1beta1.Window{window("weekdays", "08:00", "17:00", 12)},
			[]string{"moved Mon 09:00 2>10, Mon 08:00 2>12", "changed Mon 17:00 10>2, Mon 17:00 12>2"},
		},
		"one window more": {
			[]v1beta1.Window{office}, []v1beta1.Window{office, lunch},
			[]string{"added -, Mon 12:00 10>20", "added -, Mon 14:00 20>10"},
		},
		"one window less": {
			[]v1beta1.Window{office, lunch}, []v1beta1.Window{office},
			[]string{"removed Mon 12:00 10>20, -", "removed Mon 14:00 20>10, -"},
		},
		"the like stays with the like": {
			[]v1beta1.Window{office, lunch}, []v1beta1.Window{window("weekdays", "11:00", "17:00", 10), window("weekdays", "12:30", "14:00", 20)},
			[]string{"moved Mon 09:00 2>10, Mon 11:00 2>10", "moved Mon 12:00 10>20, Mon 12:30 10>20"},
		},
		"the nearer of two that came": {
			[]v1beta1.Window{window("all", "09:00", "10:00", 10)}, []v1beta1.Window{window("all", "01:00", "02:00", 10), window("all", "09:30", "10:00", 10)},
			[]string{"added -, Mon 01:00 2>10", "added -, Mon 02:00 10>2", "moved Mon 09:00 2>10, Mon 09:30 2>10"},
		},
		"the nearer of two that went": {
			[]v1beta1.Window{window("all", "01:00", "02:00", 10), window("all", "09:30", "10:00", 10)}, []v1beta1.Window{window("all", "09:00", "10:00", 10)},
			[]string{"removed Mon 01:00 2>10, -", "removed Mon 02:00 10>2, -", "moved Mon 09:30 2>10, Mon 09:00 2>10"},
		},
		"two that change places": {
			[]v1beta1.Window{named("a", window("all", "08:00", "09:00", 5)), named("b", window("all", "12:00", "13:00", 7))},
			[]v1beta1.Window{named("a", window("all", "14:00", "15:00", 5)), named("b", window("all", "09:30", "10:00", 7))},
			[]string{
				"moved Mon 12:00 2>7, Mon 09:30 2>7", "moved Mon 13:00 7>2, Mon 10:00 7>2",
				"moved Mon 08:00 2>5, Mon 14:00 2>5", "moved Mon 09:00 5>2, Mon 15:00 5>2",
			},
		},
		"another name": {
			[]v1beta1.Window{office},
			[]v1beta1.Window{named("office", office)}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := one(t, timelineOf(t, "web", spec("UTC", tc.before...), 1), timelineOf(t, "web", spec("UTC", tc.after...), 1))
			if diff := cmp.Diff(tc.want, stepLines(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	office := spec("UTC", window("weekdays", "09:00", "17:00", 10))
	other := spec("UTC", window("weekdays", "09:00", "17:00", 10))
	other.TargetRef.Name = "api"
	paused := spec("UTC", window("weekdays", "09:00", "17:00", 10))
	paused.Pause = true
	always := spec("UTC", window("all", "00:00", "24:00", 5))
	more := spec("UTC", window("all", "00:00", "24:00", 6))
	at := func(name string, spec *v1beta1.TimeWindowScalerSpec) []*timeline.Timeline {
		return []*timeline.Timeline{timelineOf(t, name, spec, 7)}
	}
	for name, tc := range map[string]struct {
		before, after []*timeline.Timeline
		want          []diff.Kind
	}{
		"the same":                {at("a", office), at("a", office), []diff.Kind{diff.Unchanged}},
		"new":                     {nil, at("a", office), []diff.Kind{diff.Added}},
		"gone":                    {at("a", office), nil, []diff.Kind{diff.Removed}},
		"another name":            {at("a", office), at("b", office), []diff.Kind{diff.Changed}},
		"another name and target": {at("a", office), at("b", other), []diff.Kind{diff.Removed, diff.Added}},
		"two heirs":               {at("a", office), append(at("b", office), at("c", office)...), []diff.Kind{diff.Removed, diff.Added, diff.Added}},
		"paused":                  {at("a", office), at("a", paused), []diff.Kind{diff.Changed}},
		"another count for good":  {at("a", always), at("a", more), []diff.Kind{diff.Changed}},
		"twice":                   {append(at("a", office), at("a", always)...), append(at("a", office), at("a", more)...), []diff.Kind{diff.Unchanged, diff.Changed}},
	} {
		var got []diff.Kind
		for _, s := range diff.Compare(tc.before, tc.after).Scalers {
			got = append(got, s.Kind)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSettingsAndHolidays(t *testing.T) {
	before := spec("UTC", window("weekdays", "09:00", "17:00", 10))
	after := spec("Europe/Berlin", window("weekdays", "10:00", "18:00", 10)) // the same hours until the clocks change
	before.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "days"}}
	after.Holidays = before.Holidays
	after.GracePeriodSeconds, after.Pause, after.TargetRef.Kind = 60, true, "StatefulSet"
	after.Windows[0].Metric = &v1beta1.WindowMetric{
		Name: "queue", MaxReplicas: 9, Target: v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "30"},
		Selector: &v1beta1.MetricSelector{MatchLabels: map[string]v1beta1.LabelValue{"queue": "mail"}},
	}
	got := one(t, timelineOf(t, "web", before, 7, "2027-02-24", "2027-05-01", "2027-01-01", "1.5.2027"),
		timelineOf(t, "web", after, 7, "2027-05-01", "2027-05-06"))
	want := []diff.Setting{
		{Field: "targetRef", Before: "apps/v1 Deployment web", After: "apps/v1 StatefulSet web"},
		{Field: "timezone", Before: "UTC", After: "Europe/Berlin"},
		{Field: "pause", Before: "false", After: "true"},
		{Field: "gracePeriodSeconds", Before: "0", After: "60"},
		{Field: "metric of window 1", Before: "none", After: "queue, Value 30, 1 to 9 replicas, of queue=mail"},
	}
	if diff := cmp.Diff(want, got.Settings); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2027-05-06"}, got.HolidaysAdded); diff != "" {
		t.Errorf("holidays added (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2027-02-24"}, got.HolidaysRemoved); diff != "" {
		t.Errorf("holidays removed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"added -, Wed 10:00 2>10", "added -, Wed 18:00 10>2"}, stepLines(got)); diff != "" {
		t.Errorf("the day that is not a holiday any more (-want +got):\n%s", diff)
	}
}
