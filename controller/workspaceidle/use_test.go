package workspaceidle

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// told is a running Workspace whose Pod tells this about its use.
func told(status metav1.ConditionStatus, reason string) *v1alpha1.Workspace {
	ws := workspace("RUNNING", noon)
	meta.SetStatusCondition(&ws.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionInUse, Status: status, Reason: reason})
	return ws
}

// W80: while a Workspace is in use no time runs, and nothing is read. When it is idle, the time since its last use counts.
func TestAWorkspaceInUse(t *testing.T) {
	s := newStage(t, told("True", "InUse"))
	s.change(func(ws *v1alpha1.Workspace) { ws.Spec.StandbyTTLSeconds = 3600 })
	if result := s.passAfter(24 * time.Hour); result.RequeueAfter != 0 {
		t.Errorf("the next pass is after %v", result.RequeueAfter)
	}
	s.desires("RUNNING", 0, 0)
	s.change(func(ws *v1alpha1.Workspace) {
		ws.Status = *told("False", "Idle").Status.DeepCopy()
		ws.Status.LastActivityTime = ptr.To(metav1.NewTime(s.clock.Now().Add(-5 * time.Minute)))
	})
	s.passAfter(0)
	s.passAfter(55*time.Minute - time.Second)
	s.desires("RUNNING", 0, 0)
	s.passAfter(time.Second)
	s.desires("STANDBY", 1, 1)
}

// W103: a change of the spec may have changed what counts. What was known before it stops nobody.
func TestAChangeAtTheLastMoment(t *testing.T) {
	ws := told("False", "Idle")
	ws.Generation = 2
	s := newStage(t, ws)
	s.passAfter(time.Hour)
	s.desires("RUNNING", 0, 0)
	s.change(func(ws *v1alpha1.Workspace) { ws.Status.Conditions[0].ObservedGeneration = ws.Generation })
	s.passAfter(0)
	s.desires("STANDBY", 1, 1)
}

// W81: where nothing tells, the Lease is looked for now and then, and without one the Workspace runs on.
func TestAWorkspaceOfWhichNothingTells(t *testing.T) {
	s := newStage(t, told("Unknown", "NoActivitySource"))
	for n := range 3 {
		result := s.passAfter(lookAgain)
		s.desires("RUNNING", 0, n+1)
		if result.RequeueAfter < lookAgain || result.RequeueAfter > lookAgain+time.Minute {
			t.Errorf("the next pass is after %v", result.RequeueAfter)
		}
		s.passAfter(0) // something else changes
		s.desires("RUNNING", 0, n+1)
	}
	s.beat()
	s.passAfter(lookAgain)
	s.desires("STANDBY", 1, 4) // that heartbeat was the last one
}

// A heartbeat that was read is in the status; it is no reason to fail if that cannot be written.
func TestLastActivityTime(t *testing.T) {
	s := newStage(t, told("Unknown", "NoActivitySource"))
	s.passAfter(4 * time.Minute)
	s.beat()
	beat := s.clock.Now()
	s.failStatus = apierrors.NewConflict(schema.GroupResource{}, "ann", errors.New("changed"))
	s.passAfter(time.Minute)
	if got := s.read().Status.LastActivityTime; got != nil {
		t.Errorf("last used at %v", got)
	}
	s.failStatus = nil
	s.passAfter(3 * time.Minute)
	s.beat()
	s.passAfter(time.Minute)
	if got := s.read().Status.LastActivityTime; got == nil || !got.After(beat) {
		t.Errorf("last used at %v", got)
	}
	s.desires("RUNNING", 0, 2)
}
