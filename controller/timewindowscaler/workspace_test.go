package timewindowscaler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Until the Workspace reports that it has converged, the schedule is not Ready; decisions of others need
// not converge.
func TestAWorkspaceOnItsWay(t *testing.T) {
	d := newWorkspaceScenario(lifecycle.Standby)
	d.pass(utc("2026-03-02 08:00"), false)
	d.target.State, d.target.Settled = lifecycle.Running, false
	s := d.pass(utc("2026-03-02 09:00"), false)
	messages := newTranscript(t)
	expectCondition(t, messages, d.tws, "Ready", "False/TargetMismatch")
	expectCondition(t, messages, d.tws, "Reconciling", "True/WindowTransition")
	if got := s.drift(&d.tws.Status); got != 1 {
		t.Errorf("drift %d, want 1", got)
	}
	d.target.State = lifecycle.Standby // a user, before it has started
	s = d.pass(utc("2026-03-02 09:01"), false)
	if got := s.ready(); got.Status != metav1.ConditionTrue {
		t.Errorf("got %+v", got)
	}
	if got := s.drift(&d.tws.Status); got != 0 {
		t.Errorf("drift %d, want 0", got)
	}
}

// A state that was requested is in the status of the same pass; a failed request is repeated, and a target that is not a Workspace has no such state.
func TestWhatTheStatusRemembers(t *testing.T) {
	d := newWorkspaceScenario(lifecycle.Standby)
	before := d.tws.DeepCopy()
	s := d.pass(utc("2026-03-02 10:00"), false)
	want := &v1beta1.Applied{
		State: "RUNNING", Edge: ptr.To(metav1.NewTime(utc("2026-03-02 09:00"))), At: metav1.NewTime(utc("2026-03-02 10:00")), TargetUID: "w-1",
	}
	if diff := cmp.Diff(want, d.tws.Status.Applied); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.outcome.target = &target.Workspace{Common: target.Common{UID: "w-1"}, State: lifecycle.Running} // on its way
	s.outcome = outcome{target: s.obs.target, refused: apierrors.NewForbidden(schema.GroupResource{}, "ada", nil)}
	s.tws = before
	if got := s.status().Applied; got != nil {
		t.Errorf("after a refusal: %+v", got)
	}
	d.tws.Spec.TargetRef = v1beta1.TargetRef{Kind: "Deployment", Name: "web"}
	web := observation{target: deployment(1, 1)}
	s = &passResult{tws: d.tws, obs: web, plan: plan(d.tws, web, utc("2026-03-02 11:00")), outcome: outcome{target: web.target}, now: utc("2026-03-02 11:00")}
	if got := s.status().Applied; got != nil {
		t.Errorf("of a Deployment: %+v", got)
	}
}
