package scaling

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Two scalers of one target pass admission when they are created together. The older one owns it, the other one never
// writes, and takes over ten seconds after the owner was deleted (B8).
func TestSecondScalerWaitsForTheOwner(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	first := s.officeHours()
	s.settles(10)
	second := s.second(first)
	refused := func() *metav1.Condition { return s.readyOf(second) }
	s.Until("TargetConflict", func() bool { return refused().Reason == v1beta1.ReasonTargetConflict })
	s.equal("message", refused().Message, "Deployment webapp belongs to the older TimeWindowScaler webapp-office-hours")
	s.equal("target", *s.deployment().Spec.Replicas, int32(10))

	s.deletesOwner(first, second)
	s.clock("2025-01-27 14:05:10")
	s.Until("the second in charge", func() bool { return *s.deployment().Spec.Replicas == 5 })
}

func TestAutoscalerOnTheSameTargetIsReported(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.Must(admin.Create(s.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "webapp-cpu"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: targetName},
			MinReplicas:    ptr.To[int32](1), MaxReplicas: 20,
		},
	}))
	s.target(2)
	s.officeHours()
	s.settles(10)
	s.awaitEvents("TargetConflict", "HorizontalPodAutoscaler webapp-cpu also scales Deployment webapp; the two will overwrite each other")
	s.equal("Degraded", s.condition("Degraded", "True", v1beta1.ReasonTargetConflict),
		"HorizontalPodAutoscaler webapp-cpu also scales Deployment webapp; the two will overwrite each other: keep only one of them")
	s.Must(admin.Delete(s.Context(), &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "webapp-cpu"}}))
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
}

// A deleted scaler leaves its target unchanged, and none of its series.
func TestDeletedScalerLeavesTheTarget(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	tws := s.officeHours()
	s.settles(10)
	s.Must(admin.Delete(s.Context(), tws))
	s.measuresNothing("kyklos_effective_replicas")
	s.equal("target", *s.deployment().Spec.Replicas, int32(10))
}
