package diff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/diff"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// body is what Text writes below the line of the only scaler, words separated by one space.
func body(t *testing.T, before, after *timeline.Timeline) (lines []string) {
	t.Helper()
	text := written(t, diff.Text, diff.Compare([]*timeline.Timeline{before}, []*timeline.Timeline{after}), fortnight)
	_, below, _ := strings.Cut(text, "\n\n")
	for _, line := range strings.Split(strings.TrimSpace(below), "\n")[1:] {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// Steps that are alike but for their dates are one row, whose days are those of a window.
func TestRows(t *testing.T) {
	some := func(start, end string, days ...v1beta1.Weekday) v1beta1.Window {
		return v1beta1.Window{Days: days, Start: start, End: end, Replicas: intstr.FromInt32(10)}
	}
	for name, tc := range map[string]struct {
		before, after v1beta1.Window
		want          []string
	}{
		"over midnight": {some("20:00", "23:00", "Mon", "Wed"), some("20:00", "01:00", "Mon", "Wed"), []string{
			"2 h later Mon,Wed 23:00 -> 01:00 of the next day 10 -> 2 OffHours 4 times, 2027-02-22 to 2027-03-03",
		}},
		"back over midnight": {some("01:00", "05:00", "Tue"), some("23:00", "05:00", "Mon"), []string{
			"2 h earlier Tue 01:00 -> 23:00 of the day before 2 -> 10 Mon 23:00-05:00 2 times, 2027-02-23 to 2027-03-02",
		}},
		"fewer days": {some("09:00", "12:00", "Mon", "Tue", "Wed", "Sat"), some("09:00", "12:00", "Mon"), []string{
			"removed Tue,Wed,Sat 09:00 2 -> 10 Mon-Wed,Sat 09:00-12:00 6 times, 2027-02-23 to 2027-03-06",
			"removed Tue,Wed,Sat 12:00 10 -> 2 OffHours 6 times, 2027-02-23 to 2027-03-06",
		}},
		"another day": {some("09:00", "12:00", "Mon"), some("09:00", "12:00", "Thu"), []string{
			"removed Mon 09:00 2 -> 10 Mon 09:00-12:00 2 times, 2027-02-22 to 2027-03-01",
			"removed Mon 12:00 10 -> 2 OffHours 2 times, 2027-02-22 to 2027-03-01",
			"added Thu 09:00 2 -> 10 Thu 09:00-12:00 2 times, 2027-02-25 to 2027-03-04",
			"added Thu 12:00 10 -> 2 OffHours 2 times, 2027-02-25 to 2027-03-04",
		}},
	} {
		got := body(t, timelineOf(t, "web", spec("UTC", tc.before), 14), timelineOf(t, "web", spec("UTC", tc.after), 14))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Hours are compared where there are two sides; a share is left out where it says nothing.
func TestHours(t *testing.T) {
	always := func(replicas int32) *v1beta1.TimeWindowScalerSpec {
		return spec("UTC", window("all", "00:00", "24:00", replicas))
	}
	for name, tc := range map[string]struct {
		before, after *v1beta1.TimeWindowScalerSpec
		text, escaped string
	}{
		"more":         {always(2), always(3), "672.0 -> 1008.0 replica-hours (+336.0, +50.0%)", "672.0 → 1008.0 replica-hours (+336.0, +50.0%)"},
		"less":         {always(4), always(1), "1344.0 -> 336.0 replica-hours (-1008.0, -75.0%)", "1344.0 → 336.0 replica-hours (−1008.0, −75.0%)"},
		"from nothing": {always(0), always(1), "0.0 -> 336.0 replica-hours (+336.0)", "0.0 → 336.0 replica-hours (+336.0)"},
		"a trifle":     {always(10000), always(10001), "3360000.0 -> 3360336.0 replica-hours (+336.0)", "3360000.0 → 3360336.0 replica-hours (+336.0)"},
		"gone":         {always(1), nil, "removed, 336.0 replica-hours", "removed, 336.0 replica-hours"},
	} {
		var before, after []*timeline.Timeline
		before = append(before, timelineOf(t, "web", tc.before, 14))
		if tc.after != nil {
			after = append(after, timelineOf(t, "web", tc.after, 14))
		}
		d := diff.Compare(before, after)
		if got := written(t, diff.Text, d, fortnight); !strings.Contains(got, tc.text+";") {
			t.Errorf("%s: %s is not in\n%s", name, tc.text, got)
		}
		if got := written(t, diff.Markdown, d, fortnight); !strings.Contains(got, tc.escaped+"</summary>") {
			t.Errorf("%s: %s is not in\n%s", name, tc.escaped, got)
		}
	}
}

// A schedule that stays as it is is shown if there is something to say about it.
func TestNotes(t *testing.T) {
	same := []*timeline.Timeline{timelineOf(t, "web", spec("UTC", window("all", "09:00", "17:00", 10)), 1)}
	d := diff.Compare(same, same)
	d.Scalers[0].Notes = []string{"it *is* broken"}
	if got := written(t, diff.Text, d, fortnight); !strings.Contains(got, "shop/web: unchanged, 112.0 replica-hours, as before; times in UTC\n  it *is* broken\n") {
		t.Error(got)
	}
	if got := written(t, diff.Markdown, d, fortnight); !strings.Contains(got, "- it &#42;is&#42; broken\n\n</details>") {
		t.Error(got)
	}
	if !d.Empty() {
		t.Error("a note is a change")
	}
}

// What does not show in transitions is told as people write it.
func TestSettings(t *testing.T) {
	metric := func(change func(*v1beta1.WindowMetric)) func(*v1beta1.TimeWindowScalerSpec) {
		return func(s *v1beta1.TimeWindowScalerSpec) {
			s.Windows[0].Name = "office"
			s.Windows[0].Metric = &v1beta1.WindowMetric{
				Name: "queue", MaxReplicas: 9, Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
			}
			change(s.Windows[0].Metric)
		}
	}
	holidays := func(mode v1beta1.HolidayMode, source string) func(*v1beta1.TimeWindowScalerSpec) {
		return func(s *v1beta1.TimeWindowScalerSpec) {
			s.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: &v1beta1.HolidaySource{Name: source}}
		}
	}
	nothing := func(*v1beta1.TimeWindowScalerSpec) {}
	for name, tc := range map[string]struct {
		before, after func(*v1beta1.TimeWindowScalerSpec)
		want          []diff.Setting
	}{
		"an apiVersion that is written out": {nothing, func(s *v1beta1.TimeWindowScalerSpec) { s.TargetRef.APIVersion = "apps/v1" }, nil},
		"holidays that are ignored":         {nothing, holidays(v1beta1.HolidayIgnore, "days"), nil},
		"holidays": {holidays(v1beta1.HolidayClosed, "days"), holidays(v1beta1.HolidayOpen, "more"),
			[]diff.Setting{{Field: "holidays", Before: "treat-as-closed, ConfigMap days", After: "treat-as-open, ConfigMap more"}}},
		"a Workspace's rules": {nothing, func(s *v1beta1.TimeWindowScalerSpec) { s.Workspace = &v1beta1.WorkspaceDrive{KeepArchived: true} },
			[]diff.Setting{{Field: "workspace", Before: "none", After: "enforce false, keepArchived true"}}},
		"a lowest of 1 that is written out": {metric(func(*v1beta1.WindowMetric) {}), metric(func(m *v1beta1.WindowMetric) { m.MinReplicas = ptr.To[int32](1) }), nil},
		"another lowest": {metric(func(*v1beta1.WindowMetric) {}), metric(func(m *v1beta1.WindowMetric) { m.MinReplicas = ptr.To[int32](2) }),
			[]diff.Setting{{Field: "metric of window office", Before: "queue, AverageValue 30, 1 to 9 replicas", After: "queue, AverageValue 30, 2 to 9 replicas"}}},
		"a metric that goes": {metric(func(*v1beta1.WindowMetric) {}), func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Name = "office" },
			[]diff.Setting{{Field: "metric of window office", Before: "queue, AverageValue 30, 1 to 9 replicas", After: "none"}}},
	} {
		before, after := spec("UTC", window("all", "09:00", "17:00", 3)), spec("UTC", window("all", "09:00", "17:00", 3))
		tc.before(before)
		tc.after(after)
		got := one(t, timelineOf(t, "web", before, 7), timelineOf(t, "web", after, 7))
		if diff := cmp.Diff(tc.want, got.Settings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if changed := got.Kind == diff.Changed; changed != (len(tc.want) > 0) {
			t.Errorf("%s: %s", name, got.Kind)
		}
	}
}
