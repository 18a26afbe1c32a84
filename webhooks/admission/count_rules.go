package admission

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// countWarnings says which counts do nothing, or not what they seem to. windows are spec's, as they
// were read.
func countWarnings(spec *v1beta1.TimeWindowScalerSpec, windows []timecalc.TimeWindow, path *field.Path) []string {
	var warnings []string
	if spec.BaselineReplicas != nil && !usesPercentages(spec) {
		warnings = append(warnings, fmt.Sprintf("%s: nothing refers to it: neither defaultReplicas nor any replicas is a percentage",
			path.Child("baselineReplicas")))
	}
	switch targetkind.Of(spec.TargetRef) {
	case targetkind.DaemonSet.GroupVersionKind:
		warnings = append(warnings, switchWarnings(spec, windows, path, "a DaemonSet", "a DaemonSet runs one pod on each of its nodes or, at 0, none")...)
	case targetkind.Workspace.GroupVersionKind:
		warnings = append(warnings, switchWarnings(spec, windows, path, "a Workspace", "a Workspace runs or, at 0, is stopped")...)
	}
	return warnings
}

func usesPercentages(spec *v1beta1.TimeWindowScalerSpec) bool {
	uses := spec.DefaultReplicas.Type == intstr.String
	for i := range spec.Windows {
		uses = uses || spec.Windows[i].Replicas.Type == intstr.String
	}
	return uses
}

// switchWarnings names the counts above 1 of a kind that is turned on and off, and has none (A6). what
// says what it has.
func switchWarnings(spec *v1beta1.TimeWindowScalerSpec, windows []timecalc.TimeWindow, path *field.Path, kind, what string) []string {
	var lines []string
	warn := func(place *field.Path, count int32) {
		if count > 1 {
			lines = append(lines, fmt.Sprintf("%s: %s: %d means the same as 1", place, what, count))
		}
	}
	if count, err := schedule.Count(spec.DefaultReplicas, spec.BaselineReplicas); err == nil {
		warn(path.Child("defaultReplicas"), count)
	}
	for i := range windows {
		warn(path.Child("windows").Index(i).Child("replicas"), windows[i].Replicas())
	}
	return capWarnings(lines, len(lines), "%s: %d more counts of "+kind+" mean the same as 1", path)
}

// metricWarnings says what a metric of a window will not do. path is that of the windows.
func metricWarnings(spec *v1beta1.TimeWindowScalerSpec, windows []timecalc.TimeWindow, path *field.Path, facts Facts) []string {
	var missing, outside []string
	for i := range spec.Windows {
		metric := spec.Windows[i].Metric
		if metric == nil {
			continue
		}
		if facts.MetricsMissing && len(missing) == 0 {
			missing = append(missing, fmt.Sprintf("%s: nothing in this cluster serves external metrics (external.metrics.k8s.io): until something does, the window's replicas apply",
				path.Index(i).Child("metric")))
		}
		fallback := windows[i].Replicas()
		if lowest, highest := schedule.MetricBounds(metric); fallback < lowest || fallback > highest {
			outside = append(outside, fmt.Sprintf("%s: %d, which applies when the metric has no value, is outside the %d to %d that the metric may set",
				path.Index(i).Child("replicas"), fallback, lowest, highest))
		}
	}
	return append(missing, capWarnings(outside, len(outside), "%s: %d more windows have replicas outside what their metrics may set", path)...)
}
