package admission

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// checkReplicas warns about replica counts that have no effect, or another one than expected. windows are
// those of spec.
func (all *Findings) checkReplicas(spec *v1beta1.TimeWindowScalerSpec, windows []timecalc.TimeWindow, path *field.Path) {
	if spec.BaselineReplicas != nil && !usesPercentages(spec) {
		all.warn(BaselineUnused, path.Child("baselineReplicas"), "unused: neither defaultReplicas nor any window's replicas is a percentage")
	}
	switch targetkind.Of(spec.TargetRef) {
	case targetkind.DaemonSet.GroupVersionKind:
		all.checkOnOff(spec, windows, path, "DaemonSet", "0 suspends a DaemonSet, and any other number runs one pod per node")
	case targetkind.Workspace.GroupVersionKind:
		all.checkOnOff(spec, windows, path, "Workspace", "0 stops a Workspace, and any other number starts it")
	}
}

func usesPercentages(spec *v1beta1.TimeWindowScalerSpec) bool {
	uses := spec.DefaultReplicas.Type == intstr.String
	for i := range spec.Windows {
		uses = uses || spec.Windows[i].Replicas.Type == intstr.String
	}
	return uses
}

// checkOnOff warns about counts above 1 for a kind that is only switched on and off (A6).
func (all *Findings) checkOnOff(spec *v1beta1.TimeWindowScalerSpec, windows []timecalc.TimeWindow, path *field.Path, kind, why string) {
	var listed Findings
	check := func(at *field.Path, count int32) {
		if count > 1 {
			listed.warn(ReplicasAboveOne, at, "%d has the same effect as 1: %s", count, why)
		}
	}
	if count, err := schedule.Count(spec.DefaultReplicas, spec.BaselineReplicas); err == nil {
		check(path.Child("defaultReplicas"), count)
	}
	for i := range windows {
		check(path.Child("windows").Index(i).Child("replicas"), windows[i].Replicas())
	}
	all.warnListed(listed, len(listed), path, "replica counts have the same effect as 1 for a "+kind)
}

// checkMetrics warns about metrics that nothing serves, and fallbacks outside of what the metric may set.
// path is that of the windows.
func (all *Findings) checkMetrics(spec *v1beta1.TimeWindowScalerSpec, windows []timecalc.TimeWindow, path *field.Path, facts Facts) {
	missing := facts.MetricsMissing
	var outside Findings
	for i := range spec.Windows {
		metric := spec.Windows[i].Metric
		if metric == nil {
			continue
		}
		if missing {
			all.warn(MetricsMissing, path.Index(i).Child("metric"),
				"this cluster does not serve external metrics (external.metrics.k8s.io): until it does, the window's replicas apply")
			missing = false // once is enough
		}
		fallback := windows[i].Replicas()
		if lowest, highest := schedule.MetricBounds(metric); fallback < lowest || fallback > highest {
			outside.warn(MetricFallback, path.Index(i).Child("replicas"),
				"%d, which applies while the metric has no value, is outside of the metric's range %d to %d", fallback, lowest, highest)
		}
	}
	all.warnListed(outside, len(outside), path, "windows have replicas outside of their metric's range")
}
