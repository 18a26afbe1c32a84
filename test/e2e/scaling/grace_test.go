package scaling

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
)

// B15: a grace period ends with its target. A new one with the same name, or of another name, gets the count that is due, and is not
// scaled up to what the former had.
func TestGraceEndsWithItsTarget(t *testing.T) {
	s := newScenario(t, "2025-01-27 16:59:00")
	s.target(10)
	s.officeHours(withGrace(300))
	s.settles(10)
	s.clock("2025-01-27 17:01:00")
	s.awaitEvents("GracePeriodStarted", "Grace period started: 300s before scaling to 2 replicas")

	s.Must(admin.Delete(s.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName}},
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.target(3)
	s.settles(2)
	s.equal("changes of the count", s.deployment().Generation-1, int64(1))

	s.Must(admin.Create(s.Context(), harness.NewDeployment(s.namespace, "other", 1)))
	s.clock("2025-01-28 09:00:00")
	s.settles(10)
	s.clock("2025-01-28 17:01:00")
	s.Until("a grace period", func() bool { return s.scaler().Status.GracePeriodExpiry != nil })
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.TargetRef.Name = "other" })
	other := &appsv1.Deployment{}
	s.Until("the other target at 2", func() bool {
		s.Get(s.namespace, "other", other)
		return *other.Spec.Replicas == 2
	})
	s.equal("changes of the other's count", other.Generation-1, int64(1))
	s.Until("the other's UID in the status", func() bool { return s.scaler().Status.TargetUID == string(other.UID) })
}

// B16: nobody made a pass when the window ended. The grace period counts from then.
func TestGraceAfterALatePass(t *testing.T) {
	s := newScenario(t, "2025-01-27 16:59:00")
	s.target(10)
	s.officeHours(withGrace(300))
	s.settles(10)
	s.clock("2025-01-27 17:04:00")
	s.Until("the end of the grace period", func() bool {
		expiry := s.scaler().Status.GracePeriodExpiry
		return expiry != nil && expiry.In(kolkata(s)).Format("15:04:05") == "17:05:00"
	})
	s.clock("2025-01-27 17:05:00")
	s.settles(2)
}
