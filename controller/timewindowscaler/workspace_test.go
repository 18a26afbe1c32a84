package timewindowscaler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Until the Workspace says that it has arrived, the schedule is not Ready; a decision of others needs no
// arrival.
func TestAWorkspaceOnItsWay(t *testing.T) {
	d := newDesk(lifecycle.Standby)
	d.passes(utc("2026-03-02 08:00"), false)
	d.target.session.desired, d.target.session.settled = lifecycle.Running, false
	s := d.passes(utc("2026-03-02 09:00"), false)
	if got, want := s.ready().Message, "Target is not RUNNING yet (window: office); see its own conditions"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.reconciling(); got.Status != metav1.ConditionTrue || got.Message != "Bringing the target to RUNNING (window: office)" {
		t.Errorf("got %+v", got)
	}
	if got := s.drift(&d.tws.Status); got != 1 {
		t.Errorf("drift %d, want 1", got)
	}
	d.target.session.desired = lifecycle.Standby // a user, before it has started
	s = d.passes(utc("2026-03-02 09:01"), false)
	if got := s.ready(); got.Status != metav1.ConditionTrue {
		t.Errorf("got %+v", got)
	}
	if got := s.drift(&d.tws.Status); got != 0 {
		t.Errorf("drift %d, want 0", got)
	}
}

// What was asked for is written with the flip's status and not held back; what could not be asked for is
// asked for again, and a target that is no Workspace has no such memory.
func TestWhatTheStatusRemembers(t *testing.T) {
	d := newDesk(lifecycle.Standby)
	before := d.tws.DeepCopy()
	s := d.passes(utc("2026-03-02 10:00"), false)
	want := &v1beta1.AppliedState{
		State: "RUNNING", Edge: ptr.To(metav1.NewTime(utc("2026-03-02 09:00"))), At: metav1.NewTime(utc("2026-03-02 10:00")), TargetUID: "w-1",
	}
	if diff := cmp.Diff(want, d.tws.Status.Applied); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.outcome.target = &target{uid: "w-1", session: &session{desired: lifecycle.Running}} // on its way
	status := s.status()
	if (&recollection{}).holdsBack(s, &before.Status, &status) {
		t.Error("it is held back")
	}
	s.outcome = outcome{target: s.obs.target, refused: apierrors.NewForbidden(schema.GroupResource{}, "ada", nil)}
	s.tws = before
	if got := s.status().Applied; got != nil {
		t.Errorf("after a refusal: %+v", got)
	}
	d.tws.Spec.TargetRef = v1beta1.TargetRef{Kind: "Deployment", Name: "web"}
	d.target = deployment(1, 1)
	s = &situation{tws: d.tws, obs: observation{target: d.target}, outcome: outcome{target: d.target}, now: utc("2026-03-02 11:00")}
	if got := s.status().Applied; got != nil {
		t.Errorf("of a Deployment: %+v", got)
	}
}

func TestWorkspaceTarget(t *testing.T) {
	object := func(desired v1alpha1.DesiredState, phase v1alpha1.Phase, ready metav1.ConditionStatus, observed int64) *v1alpha1.Workspace {
		return &v1alpha1.Workspace{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID("w-1"), ResourceVersion: "7", Generation: 2},
			Spec:       v1alpha1.WorkspaceSpec{DesiredState: desired},
			Status:     v1alpha1.WorkspaceStatus{Phase: phase, ObservedGeneration: observed, Conditions: []metav1.Condition{{Type: "Ready", Status: ready}}},
		}
	}
	for name, tc := range map[string]struct {
		ws                *v1alpha1.Workspace
		spec, observed    int32
		hasOne, hasNone   bool
		distanceFromThree int32
	}{
		"runs":                  {object("RUNNING", "RUNNING", "True", 2), 1, 1, true, false, 0},
		"starts":                {object("RUNNING", "STANDBY", "False", 2), 1, 0, false, false, 1},
		"is ready by old specs": {object("RUNNING", "STANDBY", "True", 1), 1, 0, false, false, 1},
		"stops":                 {object("STANDBY", "RUNNING", "False", 2), 0, 0, false, false, 1},
		"not yet stopping":      {object("STANDBY", "RUNNING", "True", 1), 0, 1, false, false, 0},
		"stopped":               {object("STANDBY", "STANDBY", "True", 2), 0, 0, false, true, 1},
		"archived":              {object("PENDING", "PENDING", "True", 2), 0, 0, false, true, 1},
		"new":                   {object("", "", "Unknown", 0), 0, 0, false, false, 1},
	} {
		got := workspaceTarget(tc.ws)
		if got.specReplicas != tc.spec || got.observedReplicas != tc.observed || got.has(1) != tc.hasOne || got.has(0) != tc.hasNone || got.distance(3) != tc.distanceFromThree {
			t.Errorf("%s: %+v %+v", name, got, got.session)
		}
	}
}
