package draw

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/preview"
)

func TestNotes(t *testing.T) {
	const metric = "Heights and sums take the count that applies while the metric has no value."
	for name, tc := range map[string]struct {
		change func(*preview.Scaler)
		want   []string
	}{
		"nothing":  {func(*preview.Scaler) {}, nil},
		"holidays": {func(s *preview.Scaler) { s.HolidaysMissing = true }, []string{"The ConfigMap of the holidays is not there: every date counts as an ordinary one."}},
		"a DaemonSet": {func(s *preview.Scaler) { s.Spec.TargetRef.Kind = "DaemonSet" }, []string{
			"A DaemonSet has no count: 0 suspends it, any other number lets it run.",
		}},
		"a Workspace": {func(s *preview.Scaler) { s.Spec.TargetRef.Kind = "Workspace" }, []string{
			"A Workspace has no count: 0 stops it, any other number starts it.",
		}},
		"a metric": {func(s *preview.Scaler) {
			s.Spec.Windows[0].Metric = &v1beta1.WindowMetric{Name: "queue", MaxReplicas: 20}
		}, []string{metric}},
	} {
		timeline := office(t)
		tc.change(timeline.Scaler)
		if diff := cmp.Diff(tc.want, newStrip(timeline, nil).notes()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A window that follows a metric shows between which counts, with and without a lower bound.
func TestMetricsAndPercentages(t *testing.T) {
	ten := int32(10)
	shares := spec("UTC", 1, window("day", "08:00", "20:00", 0), window("", "20:00", "21:00", 5))
	shares.BaselineReplicas = &ten
	shares.Windows[0].Replicas = intstr.FromString("150%")
	shares.Windows[1].Metric = &v1beta1.WindowMetric{
		Name: "queue", MinReplicas: &ten, MaxReplicas: 2000,
		Target: v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
	}
	var said []string
	for _, words := range drawn(t, timeline(t, shares, "2026-11-02", 1)).texts() {
		said = append(said, words.String())
	}
	for _, want := range []string{"15 day", "day daily 08:00–20:00: 150% of 10", "daily 20:00–21:00 10–2,000 by the metric queue, 5 without it"} {
		if !slices.Contains(said, want) {
			t.Errorf("%q is not among %q", want, said)
		}
	}
	if got := bounds(&v1beta1.WindowMetric{MaxReplicas: 3}); got != "1–3" {
		t.Errorf("without a lower bound: %s", got)
	}
}

func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"0": grouped(0), "999": grouped(999), "1,000": grouped(1000), "12,345,678": grouped(12345678),
		"0.1": hours(360), "1": hours(3599), "2.5": hours(9000), "1,680": hours(1680 * 3600),
		"1 h 30 min": length(90 * time.Minute), "45 s": length(45 * time.Second), "24 h": length(24 * time.Hour),
		"Mon–Fri": daysOf([]v1beta1.Weekday{"Fri", "Mon", "Tue", "Thu", "Wed"}), "Mon, Wed, Sat–Sun": daysOf([]v1beta1.Weekday{"Sun", "Wed", "Mon", "Sat"}),
		"daily": daysOf(daily), "24:00": clock(secondsPerDay), "00:05": clock(300), "61": grouped(percent(1024, 1680)),
		"1 replica": replicas("1"), "0 replicas": replicas("0"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNamespacesAreNamedUnlessUsual(t *testing.T) {
	for namespace, want := range map[string]string{"": "web", "default": "web", "shop": "shop/web"} {
		if got := qualified(&preview.Scaler{Namespace: namespace, Name: "web"}); got != want {
			t.Errorf("%q: %s", namespace, got)
		}
	}
}

func TestTips(t *testing.T) {
	week := office(t)
	week.Scaler.Spec.GracePeriodSeconds = 300
	s := newStrip(preview.Compute(week.Scaler, week.From, week.Until), nil)
	want := []*tip{
		{
			local: "Mon 2 Nov 2026 00:00–09:00 (UTC+01:00)", utc: "Sun 1 Nov 2026 23:00 – Mon 2 Nov 2026 08:00 UTC",
			count: "2 replicas", window: "OffHours", reason: "so when the picture begins",
		},
		{
			local: "Mon 2 Nov 2026 09:00–17:00 (UTC+01:00)", utc: "Mon 2 Nov 2026 08:00–16:00 UTC",
			count: "10 replicas", window: "BusinessHours (Mon–Fri 09:00–17:00)", reason: "window entered", before: "before: 2 replicas",
		},
		{
			local: "Mon 2 Nov 2026 17:00 – Tue 3 Nov 2026 09:00 (UTC+01:00)", utc: "Mon 2 Nov 2026 16:00 – Tue 3 Nov 2026 08:00 UTC",
			count: "2 replicas", window: "OffHours", reason: "window left", before: "before: 10 replicas", grace: "applied at 17:05:00, after the grace period",
		},
	}
	for i := range want {
		if diff := cmp.Diff(want[i], s.tip(i), cmp.AllowUnexported(tip{})); diff != "" {
			t.Errorf("segment %d (-want +got)\n%s", i, diff)
		}
	}
	overlap := newStrip(timeline(t, spec("UTC", 1, window("a", "08:00", "12:00", 5), window("b", "12:00", "24:00", 5)), "2026-11-02", 1), nil)
	if got := overlap.tip(2).sentence(); got != "5 replicas by b (daily 12:00–24:00); Mon 2 Nov 2026 12:00–24:00 (UTC+00:00); "+
		"Mon 2 Nov 2026 12:00–24:00 UTC; another window, the same count; before: 5 replicas" {
		t.Error(got)
	}
}
