package schedule

import (
	"cmp"
	"slices"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// DriftPolicy is spec.driftPolicy, or what is meant if it is not set: a Workspace has users who start and stop it, so what they do
// stays until the next boundary; other targets are held to the schedule (B3).
func DriftPolicy(spec *v1beta1.TimeWindowScalerSpec) v1beta1.DriftPolicy {
	meant := v1beta1.DriftEnforce
	if targetkind.Of(spec.TargetRef) == targetkind.Workspace.GroupVersionKind {
		meant = v1beta1.DriftUntilBoundary
	}
	return cmp.Or(spec.DriftPolicy, meant)
}

// HowToShare is what lets a schedule and an autoscaler of its target get along, for the end of a message about the two.
func HowToShare(spec *v1beta1.TimeWindowScalerSpec) string {
	const one = "keep only one of them"
	if slices.ContainsFunc(spec.Windows, func(w v1beta1.Window) bool { return w.Metric != nil }) {
		return one
	}
	return one + ", or let them take turns with driftPolicy: UntilBoundary"
}
