package picture

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/golden"
)

// Notes of any length are complete, on as many lines as they need.
func TestNotesAreWrapped(t *testing.T) {
	week := office(t)
	week.Scaler.Spec.TargetRef.Kind, week.Scaler.HolidaysMissing = "DaemonSet", true
	week.Scaler.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "dates"}}
	var said []string
	for _, line := range drawn(t, week).texts() {
		if _, right := line.box(); right > width-margin+1 {
			t.Errorf("%q ends at %.0f", line, right)
		}
		said = append(said, line.String())
	}
	whole := strings.Join(said, " ")
	notes := week.Scaler.Notes(time.UTC)
	if len(notes) != 2 {
		t.Errorf("the notes are %q", notes)
	}
	for _, note := range notes {
		if !strings.Contains(whole, note) {
			t.Errorf("%q is not in the picture", note)
		}
	}
}

// A count of a DaemonSet is shown with its meaning.
func TestCountsOfADaemonSet(t *testing.T) {
	agents := spec("UTC", 1, window("quiet", "08:00", "20:00", 0))
	agents.TargetRef.Kind = "DaemonSet"
	s := newStrip(timelineOf(t, agents, "2026-11-02", 1), nil)
	if got := []string{s.tip(0).count, s.tip(1).count, s.tip(1).before}; !slices.Equal(got, []string{"1 replica", "0 suspended", "before: 1 replica"}) {
		t.Errorf("the tips say %q", got)
	}
	agents.Windows[0].End = "08:45" // too narrow for text
	var labels []string
	for _, part := range drawn(t, timelineOf(t, agents, "2026-11-02", 1)).groups() {
		labels = append(labels, part.shapes[len(part.shapes)-1].(text).String())
	}
	if !slices.Equal(labels, []string{"1", "0", "1"}) {
		t.Errorf("the labels are %q", labels)
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
	golden.New(t, "metric").Add("metric and percentage", textsOf(drawn(t, timelineOf(t, shares, "2026-11-02", 1)))...)
	if got := bounds(&v1beta1.WindowMetric{MaxReplicas: 3}); got != "1–3" {
		t.Errorf("without a lower bound: %s", got)
	}
}

func TestTexts(t *testing.T) {
	for want, got := range map[string]string{
		"0": grouped(0), "999": grouped(999), "1,000": grouped(1000), "12,345,678": grouped(12345678),
		"0.1": hours(360), "1": hours(3599), "2.5": hours(9000), "1,680": hours(1680 * 3600),
		"24:00": clock(secondsPerDay), "00:05": clock(300), "61": grouped(percent(1024, 1680)),
		"1 replica": replicas("1"), "0 replicas": replicas("0"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNamespacesAreNamedUnlessUsual(t *testing.T) {
	for namespace, want := range map[string]string{"": "web", "default": "web", "shop": "shop/web"} {
		if got := displayName(&timeline.Scaler{Namespace: namespace, Name: "web"}); got != want {
			t.Errorf("%q: %s", namespace, got)
		}
	}
}

func TestTips(t *testing.T) {
	week := office(t)
	week.Scaler.Spec.GracePeriodSeconds = 300
	s := newStrip(timeline.Compute(week.Scaler, week.From, week.Until), nil)
	want := golden.New(t, "tooltips")
	for i := range 3 {
		var lines []string
		for _, field := range s.tip(i).fields() {
			lines = append(lines, field.name+": "+field.text)
		}
		want.Add(fmt.Sprint("segment ", i), lines...)
	}
	overlap := newStrip(timelineOf(t, spec("UTC", 1, window("a", "08:00", "12:00", 5), window("b", "12:00", "24:00", 5)), "2026-11-02", 1), nil)
	want.Add("in one line", overlap.tip(2).sentence())
}
