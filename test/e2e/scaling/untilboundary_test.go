package scaling

import (
	"fmt"
	"testing"

	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// untilBoundary keeps what others set until the next boundary.
func untilBoundary(tws *v1beta1.TimeWindowScaler) {
	tws.Spec.DriftPolicy = v1beta1.DriftUntilBoundary
}

// stays waits until the status shows the count that somebody else set in the window, and checks that the target still has it.
func (s *scenario) stays(replicas int32, window string) {
	s.Helper()
	s.Until("the status shows the count of others", func() bool {
		return ptr.Deref(s.scaler().Status.TargetObservedReplicas, -1) == replicas
	})
	s.awaitReady(fmt.Sprintf("Target stays at %d replicas because another user or controller set it; the next window boundary decides again (window: %s)", replicas, window))
	s.equal("target", *s.deployment().Spec.Replicas, replicas)
}

// A schedule and an autoscaler share a target: the one decides at each boundary, the other in between. Nothing is reported as wrong.
func TestUntilBoundary(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:00:00")
	s.autoscaler()
	s.target(5)
	s.officeHours(untilBoundary)
	s.settles(2)
	s.clock("2025-01-27 09:00:00")
	s.settles(10)
	for _, replicas := range []int32{14, 7, 8, 6, 3} {
		s.userScales(replicas)
		s.stays(replicas, "BusinessHours")
	}
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
	s.equal("effective", *s.scaler().Status.EffectiveReplicas, int32(10))
	s.awaitEvents("TargetConflict")
	s.awaitEvents("FieldFight")
	s.measuresNothing(driftCorrections)

	s.clock("2025-01-27 17:00:00")
	s.settles(2)
	applied := s.scaler().Status.Applied
	s.equal("the count that was asked for", *applied.Replicas, int32(2))
	s.equal("at the boundary", applied.Edge.UTC(), s.local("2025-01-27 17:00:00").UTC())
	s.userScales(4)
	s.stays(4, "OffHours")

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DriftPolicy = v1beta1.DriftEnforce })
	s.settles(2)
	s.awaitEvents("TargetConflict", "HorizontalPodAutoscaler webapp-cpu also scales Deployment webapp; the two will overwrite each other")
}
