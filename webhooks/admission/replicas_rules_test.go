package admission_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/webhooks/admission"
)

func withBaseline(baseline int32, outside string) func(*v1beta1.TimeWindowScaler) {
	return func(obj *v1beta1.TimeWindowScaler) {
		obj.Spec.BaselineReplicas, obj.Spec.DefaultReplicas = &baseline, intstr.Parse(outside)
	}
}

func percent(share string) v1beta1.Window {
	w := window("09:00", "17:00", 0, weekdays...)
	w.Replicas = intstr.FromString(share)
	return w
}

func TestCountWarnings(t *testing.T) {
	daemonSet := withKind("apps/v1", "DaemonSet")
	checkCases(t, map[string]findingsCase{
		"percentages of a baseline":  {obj: office(withBaseline(8, "25%"), withWindows(percent("150%")))},
		"a percentage in the window": {obj: office(withBaseline(8, "2"), withWindows(percent("0%")))},
		"a percentage outside":       {obj: office(withBaseline(8, "25%"))},
		"a baseline for nothing":     {obj: office(withBaseline(8, "2")), want: []string{"baseline-unused spec.baselineReplicas"}},
		"a DaemonSet on and off":     {obj: office(daemonSet, withWindows(window("09:00", "17:00", 1, weekdays...)))},
		"a DaemonSet by halves":      {obj: office(daemonSet, withBaseline(1, "0%"), withWindows(percent("50%")))},
		"a DaemonSet with counts": {obj: office(daemonSet, withBaseline(8, "50%"), withWindows(percent("100%"))), want: []string{
			"replicas-above-one spec.defaultReplicas",
			"replicas-above-one spec.windows[0].replicas",
		}},
		"a DaemonSet with many": {obj: office(daemonSet, withBaseline(8, "50%"), withWindows(percent("100%"), window("08:00", "09:00", 2, "Mon"), window("07:00", "08:00", 2, "Mon"),
			window("06:00", "07:00", 2, "Mon"), window("05:00", "06:00", 2, "Mon"))), want: []string{
			"replicas-above-one spec.defaultReplicas",
			"replicas-above-one spec.windows[0].replicas",
			"replicas-above-one spec.windows[1].replicas",
			"replicas-above-one spec.windows[2].replicas",
			"replicas-above-one spec",
		}},
		"a Workspace": {obj: office(withKind("kyklos.io/v1alpha1", "Workspace"), withBaseline(8, "0%"), withWindows(window("09:00", "17:00", 1, weekdays...)))},
		"a Workspace with counts": {obj: office(withKind("kyklos.io/v1alpha1", "Workspace"), withBaseline(8, "25%"), withWindows(window("09:00", "17:00", 3, weekdays...))), want: []string{
			"replicas-above-one spec.defaultReplicas",
			"replicas-above-one spec.windows[0].replicas",
		}},
		"a DaemonSet of another group": {obj: office(withKind("example.com/v1", "DaemonSet"))},
	})
}

func metered(fallback, highest int32, lowest *int32) v1beta1.Window {
	w := window("09:00", "17:00", fallback, weekdays...)
	w.Metric = &v1beta1.WindowMetric{Name: "queue_depth", Target: v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "30"}, MinReplicas: lowest, MaxReplicas: highest}
	return w
}

func TestMetricWarnings(t *testing.T) {
	none := admission.Facts{MetricsMissing: true}
	checkCases(t, map[string]findingsCase{
		"a fallback within": {obj: office(withWindows(metered(5, 20, ptr.To[int32](2))))},
		"the lowest and the highest": {obj: office(withWindows(metered(2, 20, ptr.To[int32](2)), window("17:00", "18:00", 1, "Mon"), metered(20, 20, ptr.To[int32](20)))), want: []string{
			"window-covered spec.windows[0]",
		}},
		"one at least":              {obj: office(withWindows(metered(1, 20, nil)))},
		"a fallback below":          {obj: office(withWindows(metered(0, 20, nil))), want: []string{"metric-fallback spec.windows[0].replicas"}},
		"a fallback above":          {obj: office(withWindows(metered(50, 20, ptr.To[int32](2)))), want: []string{"metric-fallback spec.windows[0].replicas"}},
		"no metrics in the cluster": {obj: office(withWindows(metered(5, 20, nil))), facts: none, want: []string{"metrics-missing spec.windows[0].metric"}},
		"and no metric either":      {obj: office(), facts: none},
	})
}

// CEL of v1beta1 refuses such a metric, and that of v1alpha1 does not see the one that an annotation brings.
func TestAMetricThatCannotBeRead(t *testing.T) {
	metric := func(target string) func(*v1beta1.TimeWindowScaler) {
		w := metered(5, 20, nil)
		w.Metric.Target.Value = target
		return withWindows(w)
	}
	checkCases(t, map[string]findingsCase{
		"new":              {obj: office(metric("many")), want: []string{"schedule-invalid spec.windows[0].metric.target.value: Invalid value"}},
		"an edit":          {obj: office(metric("many")), old: office(metric("30")), want: []string{"schedule-invalid spec.windows[0].metric.target.value: Invalid value"}},
		"kept from before": {obj: office(metric("many"), inZone("UTC")), old: office(metric("many"))},
		"one that can":     {obj: office(metric("30"))},
		"mended":           {obj: office(metric("30")), old: office(metric("many"))},
	})
}
