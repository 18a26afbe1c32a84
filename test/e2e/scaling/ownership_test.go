package scaling

import (
	"context"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	s.equal("message", refused().Message, "Deployment webapp belongs to TimeWindowScaler webapp-office-hours, and a workload can have only one")
	s.equal("target", *s.deployment().Spec.Replicas, int32(10))

	s.deletesOwner(first, second)
	s.clock("2025-01-27 14:05:10")
	s.Until("the second in charge", func() bool { return *s.deployment().Spec.Replicas == 5 })
}

// autoscaler creates an HPA of the target, with which no controller does anything.
func (s *scenario) autoscaler() {
	s.Helper()
	s.Must(admin.Create(s.Context(), &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "webapp-cpu"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: targetName},
			MinReplicas:    ptr.To[int32](1), MaxReplicas: 20,
		},
	}))
}

func TestAutoscalerOnTheSameTargetIsReported(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.autoscaler()
	s.target(2)
	s.officeHours()
	s.settles(10)
	s.awaitEvents("TargetConflict", "HorizontalPodAutoscaler webapp-cpu also scales Deployment webapp; the two will overwrite each other")
	s.equal("Degraded", s.condition("Degraded", "True", v1beta1.ReasonTargetConflict),
		"HorizontalPodAutoscaler webapp-cpu also scales Deployment webapp; the two will overwrite each other: keep only one of them, "+
			"or let them take turns with driftPolicy: UntilBoundary")
	s.Must(admin.Delete(s.Context(), &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "webapp-cpu"}}))
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
}

// A deleted scaler leaves its target unchanged, and none of its series.
func TestDeletedScalerLeavesTheTarget(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	tws := s.officeHours()
	s.settles(10)
	written := len(s.statusWrites())
	s.Must(admin.Delete(s.Context(), tws))
	s.measuresNothing("kyklos_effective_replicas")
	s.equal("target", *s.deployment().Spec.Replicas, int32(10))
	s.equal("status writes after the deletion", len(s.statusWrites()), written)
}

// statusWrites are the requests that wrote the scaler's status.
func (s *scenario) statusWrites() []string {
	return sent.about("/" + s.namespace + "/timewindowscalers/" + scalerName + "/status")
}

// A scaler whose deletion waits for finalizers says so, and does not scale any more. That costs one write for each state (B8).
func TestDeletionThatWaitsIsReported(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	const first, second = "x.example.com/hold", "y.example.com/hold"
	holds := func(finalizers ...string) { // as whatever holds the object
		s.Helper()
		before := s.scaler()
		after := before.DeepCopy()
		after.Finalizers = finalizers
		s.Must(admin.Patch(s.Context(), after, client.MergeFrom(before)))
	}
	tws := s.officeHours(func(tws *v1beta1.TimeWindowScaler) { tws.Finalizers = []string{first, second} })
	t.Cleanup(func() {
		_ = admin.Patch(context.Background(), tws, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	})
	s.settles(10)
	written := len(s.statusWrites())
	s.Must(admin.Delete(s.Context(), tws))
	s.equal("Ready", s.condition("Ready", "False", v1beta1.ReasonBeingDeleted), "The TimeWindowScaler is being deleted and waits for the finalizers "+
		first+", "+second+"; its target is no longer scaled")
	s.equal("no effectiveReplicas", s.scaler().Status.EffectiveReplicas == nil, true)
	s.equal("observedGeneration", s.scaler().Status.ObservedGeneration, s.scaler().Generation)
	s.measuresNothing("kyklos_effective_replicas")

	s.userScales(1)
	holds(second) // the next state shows that a pass has seen the change of the target
	s.Until("the other finalizer", func() bool {
		return s.condition("Ready", "False", v1beta1.ReasonBeingDeleted) == "The TimeWindowScaler is being deleted and waits for the finalizer "+
			second+"; its target is no longer scaled"
	})
	s.equal("target", *s.deployment().Spec.Replicas, int32(1))
	holds()
	s.Until("gone", func() bool {
		return apierrors.IsNotFound(admin.Get(s.Context(), client.ObjectKeyFromObject(tws), &v1beta1.TimeWindowScaler{}))
	})
	s.equal("status writes after the deletion", len(s.statusWrites()), written+2)
}
