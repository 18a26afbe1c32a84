package scaling

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// The controller's own status write causes no other pass.
func TestOwnStatusWriteCausesNoPass(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.clockIsKnown()
	before := s.passes()
	s.officeHours() // without a target, so that nothing else happens
	s.condition("Ready", "False", v1beta1.ReasonTargetNotFound)

	// A later scaler is reconciled later, after the event of the write.
	later := &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "later"},
		Spec:       *s.scaler().Spec.DeepCopy(),
	}
	later.Spec.TargetRef.Name = "other"
	s.Must(admin.Create(s.Context(), later))
	s.Until("the later one's status", func() bool {
		tws := &v1beta1.TimeWindowScaler{}
		s.Must(admin.Get(s.Context(), client.ObjectKeyFromObject(later), tws))
		return tws.Status.ObservedGeneration == tws.Generation
	})
	s.equal("passes over the two, each of which decides once and reports once", s.passes()-before, uint64(4))
}

// clockIsKnown waits until the controller has handled the last step of its clock, which wakes every scaler: one poll may be
// running, one sees the step, and the third follows it.
func (s *scenario) clockIsKnown() {
	s.Helper()
	before := clockPolls.Load()
	s.Until("the step of the clock handled", func() bool { return clockPolls.Load() >= before+3 })
}

// Another client writes the target repeatedly. A conflicting flip is retried at once until it succeeds, and no write of the
// other client is lost.
func TestFlipUnderARivalsWrites(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	s.target(2)
	s.officeHours()
	s.settles(2)

	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	last := make(chan string, 1)
	go func() {
		written := ""
		for i := 0; ctx.Err() == nil; i++ {
			value := fmt.Sprint(i)
			patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"rival":%q}}}`, value))
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName}}
			if admin.Patch(s.Context(), d, patch) == nil {
				written = value
			}
		}
		last <- written
	}()
	s.clock("2025-01-27 09:00:00")
	s.settles(10)
	stop()
	written := <-last
	s.equal("the rival's annotation", s.deployment().Annotations["rival"], written)
	s.awaitEvents("ScaledUp", "Scaled up from 2 to 10 replicas (window: BusinessHours)")
}
