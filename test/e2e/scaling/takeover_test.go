package scaling

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// second creates a scaler of the same target that asks for 5 replicas and does not own it.
func (s *scenario) second(first *v1beta1.TimeWindowScaler) *v1beta1.TimeWindowScaler {
	s.Helper()
	second := &v1beta1.TimeWindowScaler{
		// The UID is random. The name sorts first to show that it does not matter.
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "a-second"},
		Spec:       *first.Spec.DeepCopy(),
	}
	second.Spec.Windows[0].Replicas = intstr.FromInt32(5)
	// Of two created in the same second the one with the smaller UID owns the target, so create none in that second.
	s.Until("a second of time between the two", func() bool {
		dry := second.DeepCopy()
		s.Must(admin.Create(s.Context(), dry, client.DryRunAll))
		return dry.CreationTimestamp.After(first.CreationTimestamp.Time)
	})
	s.Must(admin.Create(s.Context(), second))
	return second
}

// readyOf is empty before the first pass.
func (s *scenario) readyOf(scaler *v1beta1.TimeWindowScaler) *metav1.Condition {
	s.Helper()
	tws := &v1beta1.TimeWindowScaler{}
	s.Must(admin.Get(s.Context(), client.ObjectKeyFromObject(scaler), tws))
	if ready := meta.FindStatusCondition(tws.Status.Conditions, v1beta1.ConditionReady); ready != nil {
		return ready
	}
	return &metav1.Condition{}
}

// deletesOwner deletes the first of two scalers, and checks that the second one only waits.
func (s *scenario) deletesOwner(first, second *v1beta1.TimeWindowScaler) {
	s.Helper()
	owned := s.readyOf(second).Message
	s.stoppedClock("2025-01-27 14:05:00")
	s.Must(admin.Delete(s.Context(), first))
	s.Until("the owner is seen gone", func() bool { return s.readyOf(second).Message != owned })
	s.equal("Ready", s.readyOf(second).Message, "TimeWindowScaler webapp-office-hours no longer scales Deployment webapp; this one takes over at 08:35:10 UTC")
	s.equal("the reason", s.readyOf(second).Reason, v1beta1.ReasonTargetConflict)
	s.equal("target", *s.deployment().Spec.Replicas, int32(10))
}

// B8: a workload keeps its count when all of its scalers are deleted, one after the other.
func TestScalersDeletedTogether(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	first := s.officeHours()
	s.settles(10)
	second := s.second(first)
	s.Until("TargetConflict", func() bool { return s.readyOf(second).Reason == v1beta1.ReasonTargetConflict })
	s.deletesOwner(first, second)
	s.Must(admin.Delete(s.Context(), second))
	s.Until("the second is gone", func() bool {
		return apierrors.IsNotFound(admin.Get(s.Context(), client.ObjectKeyFromObject(second), &v1beta1.TimeWindowScaler{}))
	})
	s.measuresNothing("kyklos_effective_replicas")
	s.clock("2025-01-27 14:06:00")
	s.equal("target", *s.deployment().Spec.Replicas, int32(10))
	s.equal("changes of the count", s.deployment().Generation-1, int64(1))
}
