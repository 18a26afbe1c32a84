package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/diff"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/golden"
)

// Steps that differ only in their dates are one row.
func TestRows(t *testing.T) {
	some := func(start, end string, days ...v1beta1.Weekday) v1beta1.Window {
		return v1beta1.Window{Days: days, Start: start, End: end, Replicas: intstr.FromInt32(10)}
	}
	want := golden.New(t, "rows")
	for name, tc := range map[string]struct{ before, after v1beta1.Window }{
		"over midnight":      {some("20:00", "23:00", "Mon", "Wed"), some("20:00", "01:00", "Mon", "Wed")},
		"back over midnight": {some("01:00", "05:00", "Tue"), some("23:00", "05:00", "Mon")},
		"fewer days":         {some("09:00", "12:00", "Mon", "Tue", "Wed", "Sat"), some("09:00", "12:00", "Mon")},
		"another day":        {some("09:00", "12:00", "Mon"), some("09:00", "12:00", "Thu")},
	} {
		before, after := timelineOf(t, "web", spec("UTC", tc.before), 14), timelineOf(t, "web", spec("UTC", tc.after), 14)
		want.Add(name, written(t, diff.Text, diff.Compare([]*timeline.Timeline{before}, []*timeline.Timeline{after}), fortnight))
	}
}

// Hours are compared if both sides have the schedule; a percentage is left out if it would be 0.0%.
func TestHours(t *testing.T) {
	want := golden.New(t, "hours")
	for name, tc := range map[string]struct{ before, after int32 }{
		"more": {2, 3}, "less": {4, 1}, "from nothing": {0, 1}, "very little": {10000, 10001}, "removed": {1, -1},
	} {
		side := func(replicas int32) []*timeline.Timeline {
			if replicas < 0 {
				return nil
			}
			return []*timeline.Timeline{timelineOf(t, "web", spec("UTC", window("all", "00:00", "24:00", replicas)), 14)}
		}
		d := diff.Compare(side(tc.before), side(tc.after))
		want.Add(name, written(t, diff.Text, d, fortnight), written(t, diff.Markdown, d, fortnight))
	}
}

// An unchanged schedule is shown if it has notes.
func TestNotes(t *testing.T) {
	same := []*timeline.Timeline{timelineOf(t, "web", spec("UTC", window("all", "09:00", "17:00", 10)), 1)}
	d := diff.Compare(same, same)
	d.Scalers[0].Notes = []string{"it *is* broken"}
	want := golden.New(t, "notes")
	want.Add("text", written(t, diff.Text, d, fortnight))
	want.Add("markdown", written(t, diff.Markdown, d, fortnight))
	if !d.Empty() {
		t.Error("a note is a change")
	}
}

// Settings are differences that transitions do not show.
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
		"the drift policy": {nothing, func(s *v1beta1.TimeWindowScalerSpec) { s.DriftPolicy = v1beta1.DriftUntilBoundary },
			[]diff.Setting{{Field: "driftPolicy", Before: "Enforce", After: "UntilBoundary"}}},
		"the drift policy that is the default": {nothing, func(s *v1beta1.TimeWindowScalerSpec) { s.DriftPolicy = v1beta1.DriftEnforce }, nil},
		"a Workspace's rules": {nothing, func(s *v1beta1.TimeWindowScalerSpec) { s.Workspace = &v1beta1.WorkspaceDrive{KeepArchived: true} },
			[]diff.Setting{{Field: "workspace", Before: "none", After: "keepArchived true, keepArchivedAfterDays 7, stopWhileInUse false"}}},
		"the days after which a Workspace stays archived": {nothing, func(s *v1beta1.TimeWindowScalerSpec) {
			s.Workspace = &v1beta1.WorkspaceDrive{KeepArchivedAfterDays: ptr.To[int32](30)}
		},
			[]diff.Setting{{Field: "workspace", Before: "none", After: "keepArchived false, keepArchivedAfterDays 30, stopWhileInUse false"}}},
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
