package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Our own status write is no reason for another pass.
func TestOwnStatusWriteCausesNoPass(t *testing.T) {
	s := newStage(t, "2025-01-27 14:00:00")
	s.clockIsKnown()
	s.officeHours() // without a target, so that nothing else happens
	s.condition("Ready", "False", v1beta1.ReasonTargetNotFound)

	// A scaler that comes later is looked at later: by then the event of the write has passed.
	later := &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "later"},
		Spec:       *s.scaler().Spec.DeepCopy(),
	}
	later.Spec.TargetRef.Name = "other"
	s.must(admin.Create(s.Context(), later))
	s.eventually("the later one's status", func() bool {
		tws := &v1beta1.TimeWindowScaler{}
		s.must(admin.Get(s.Context(), client.ObjectKeyFromObject(later), tws))
		return tws.Status.ObservedGeneration == tws.Generation
	})
	s.equal("passes", s.passes(scalerName), uint64(1))
}

// clockIsKnown waits until the controller has dealt with the last step of its clock, which wakes every
// scaler that there is by then: one look may be under way, one sees the step, and the third comes when
// that one is over.
func (s *stage) clockIsKnown() {
	s.Helper()
	before := looks.Load()
	err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return looks.Load() >= before+3, nil })
	s.must(err)
}

// Someone else writes the target again and again. A conflict is repeated at once, until the flip is
// through, and nothing of the other's work is lost.
func TestFlipUnderARivalsWrites(t *testing.T) {
	s := newStage(t, "2025-01-27 08:59:00")
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
	s.hears("ScaledUp", "Scaled up from 2 to 10 replicas (window: BusinessHours)")
}
