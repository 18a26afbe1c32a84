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
	const same = ": a DaemonSet runs one pod on each of its nodes or, at 0, none: "
	checkWarnings(t, map[string]warningCase{
		"percentages of a baseline":  {obj: office(withBaseline(8, "25%"), withWindows(percent("150%")))},
		"a percentage in the window": {obj: office(withBaseline(8, "2"), withWindows(percent("0%")))},
		"a percentage outside":       {obj: office(withBaseline(8, "25%"))},
		"a baseline for nothing": {obj: office(withBaseline(8, "2")), want: []string{
			"spec.baselineReplicas: nothing refers to it: neither defaultReplicas nor any replicas is a percentage"}},
		"a DaemonSet on and off": {obj: office(daemonSet, withWindows(window("09:00", "17:00", 1, weekdays...)))},
		"a DaemonSet by halves":  {obj: office(daemonSet, withBaseline(1, "0%"), withWindows(percent("50%")))},
		"a DaemonSet with counts": {obj: office(daemonSet, withBaseline(8, "50%"), withWindows(percent("100%"))), want: []string{
			"spec.defaultReplicas" + same + "4 means the same as 1", "spec.windows[0].replicas" + same + "8 means the same as 1"}},
		"a DaemonSet with many": {obj: office(daemonSet, withBaseline(8, "50%"), withWindows(percent("100%"), window("08:00", "09:00", 2, "Mon"), window("07:00", "08:00", 2, "Mon"),
			window("06:00", "07:00", 2, "Mon"), window("05:00", "06:00", 2, "Mon"))), want: []string{
			"spec.defaultReplicas" + same + "4 means the same as 1", "spec.windows[0].replicas" + same + "8 means the same as 1",
			"spec.windows[1].replicas" + same + "2 means the same as 1", "spec.windows[2].replicas" + same + "2 means the same as 1",
			"spec: 2 more counts of a DaemonSet mean the same as 1"}},
		"a Workspace": {obj: office(withKind("kyklos.io/v1alpha1", "Workspace"), withBaseline(8, "0%"), withWindows(window("09:00", "17:00", 1, weekdays...)))},
		"a Workspace with counts": {obj: office(withKind("kyklos.io/v1alpha1", "Workspace"), withBaseline(8, "25%"), withWindows(window("09:00", "17:00", 3, weekdays...))), want: []string{
			"spec.defaultReplicas: a Workspace runs or, at 0, is stopped: 2 means the same as 1", "spec.windows[0].replicas: a Workspace runs or, at 0, is stopped: 3 means the same as 1"}},
		"a DaemonSet of another group": {obj: office(withKind("example.com/v1", "DaemonSet"))},
	})
}

func metered(fallback, highest int32, lowest *int32) v1beta1.Window {
	w := window("09:00", "17:00", fallback, weekdays...)
	w.Metric = &v1beta1.WindowMetric{Name: "queue_depth", Target: v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "30"}, MinReplicas: lowest, MaxReplicas: highest}
	return w
}

func TestMetricWarnings(t *testing.T) {
	const outside = "which applies when the metric has no value, is outside the "
	none := admission.Facts{MetricsMissing: true}
	checkWarnings(t, map[string]warningCase{
		"a fallback within": {obj: office(withWindows(metered(5, 20, ptr.To[int32](2))))},
		"the lowest and the highest": {obj: office(withWindows(metered(2, 20, ptr.To[int32](2)), window("17:00", "18:00", 1, "Mon"), metered(20, 20, ptr.To[int32](20)))), want: []string{
			"spec.windows[0] (Mon-Fri 09:00-17:00) never takes effect: spec.windows[2] (Mon-Fri 09:00-17:00) covers all of it, and of the windows that cover a moment the last in the list decides"}},
		"one at least": {obj: office(withWindows(metered(1, 20, nil)))},
		"a fallback below": {obj: office(withWindows(metered(0, 20, nil))), want: []string{
			"spec.windows[0].replicas: 0, " + outside + "1 to 20 that the metric may set"}},
		"a fallback above": {obj: office(withWindows(metered(50, 20, ptr.To[int32](2)))), want: []string{
			"spec.windows[0].replicas: 50, " + outside + "2 to 20 that the metric may set"}},
		"no metrics in the cluster": {obj: office(withWindows(metered(5, 20, nil))), facts: none, want: []string{
			"spec.windows[0].metric: nothing in this cluster serves external metrics (external.metrics.k8s.io): until something does, the window's replicas apply"}},
		"and no metric either": {obj: office(), facts: none},
	})
}

// CEL of v1beta1 refuses such a metric, and that of v1alpha1 does not see the one that an annotation brings.
func TestAMetricThatCannotBeRead(t *testing.T) {
	metric := func(target string) func(*v1beta1.TimeWindowScaler) {
		w := metered(5, 20, nil)
		w.Metric.Target.Value = target
		return withWindows(w)
	}
	const want = `spec.windows[0].metric.target.value: Invalid value: "many": must be a quantity from 0.001 to 1P, such as "30", "0.5" or "500m"`
	for name, tc := range map[string]struct {
		obj, old *v1beta1.TimeWindowScaler
		want     string
	}{
		"new":              {obj: office(metric("many")), want: want},
		"an edit":          {obj: office(metric("many")), old: office(metric("30")), want: want},
		"kept from before": {obj: office(metric("many"), inZone("UTC")), old: office(metric("many"))},
		"one that can":     {obj: office(metric("30"))},
		"mended":           {obj: office(metric("30")), old: office(metric("many"))},
	} {
		got := ""
		if errs := admission.ValidateTimeWindowScaler(tc.obj, tc.old, admission.Facts{}); len(errs) > 0 {
			got = errs.ToAggregate().Error()
		}
		if got != tc.want {
			t.Errorf("%s: got %s\nwant %s", name, got, tc.want)
		}
	}
}
