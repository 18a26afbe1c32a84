package workspaceidle

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/golden"
)

// W37, W47: an idle Workspace is lowered once, with an event.
func TestAnIdleWorkspaceIsLoweredOnce(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	s.passAfter(0)
	s.passAfter(5*time.Minute - time.Nanosecond)
	s.desires("RUNNING", 0, 0)
	s.passAfter(time.Nanosecond)
	s.desires("STANDBY", 1, 1)
	golden.NewMessages(t).Add("without a heartbeat", s.note())
	if result := s.passAfter(time.Hour); result.RequeueAfter != 0 {
		t.Errorf("while it stops, time does not matter: %v", result)
	}
	s.change(func(ws *v1alpha1.Workspace) { ws.Status = workspace("STANDBY", s.clock.Now()).Status })
	s.passAfter(24*time.Hour - time.Nanosecond)
	s.desires("STANDBY", 1, 1)
	s.passAfter(time.Nanosecond)
	s.desires("PENDING", 2, 2)
}

// The event about one that never got to its desired state does not say that it entered it.
func TestAWorkspaceThatNeverStarted(t *testing.T) {
	ws := workspace("STANDBY", noon)
	ws.Spec.DesiredState = v1alpha1.DesiredRunning
	ws.Status.Operation = &v1alpha1.Operation{
		Type: v1alpha1.OperationStarting, ID: "x", Attempt: 2, StartedAt: ptr.To(metav1.NewTime(noon)), Failures: v1alpha1.FailureCounts{ActionFailed: 1},
	}
	s := newStage(t, ws)
	s.passAfter(10 * time.Minute) // five for its first attempt
	s.desires("STANDBY", 1, 1)
	golden.NewMessages(t).Add("it never started", s.note())
}

// Heartbeats delay it, and cost one read of the Lease each time it would be due.
func TestHeartbeatsDelayIt(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	for range 30 {
		s.beat()
		s.passAfter(time.Minute)
	}
	s.desires("RUNNING", 0, 7) // at 5, and each time five minutes after the beat before
	if result := s.passAfter(0); result.RequeueAfter <= 0 || result.RequeueAfter > 66*time.Second {
		t.Errorf("the next pass is after %v", result.RequeueAfter)
	}
	last := s.clock.Now().Add(-time.Minute)
	s.passAfter(4*time.Minute - time.Second) // the heartbeat that was last read is five minutes old, and there is a later one
	s.desires("RUNNING", 0, 8)
	s.passAfter(time.Second)
	s.desires("STANDBY", 1, 9)
	note := s.note()
	if !strings.Contains(note, last.Format(time.RFC3339)) {
		t.Error(note)
	}
	golden.NewMessages(t).Add("after a heartbeat", note)
}

// D15: heartbeats of an earlier Workspace of the same name do not count.
func TestAnEarlierWorkspacesHeartbeats(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	s.passAfter(4 * time.Minute)
	s.beat()
	s.passAfter(time.Minute)
	s.desires("RUNNING", 0, 1)
	again := workspace("RUNNING", noon)
	again.UID, again.CreationTimestamp = "2", metav1.NewTime(s.clock.Now())
	s.must(s.Delete(t.Context(), s.read()))
	status := again.Status
	s.must(s.Create(t.Context(), again))
	again.Status = status
	s.must(s.Status().Update(t.Context(), again))
	s.passAfter(0)
	s.desires("STANDBY", 1, 2)
}

// A failed read or write is retried by another pass; nothing is half done.
func TestWhatFails(t *testing.T) {
	resource := schema.GroupResource{Resource: "workspaces"}
	for name, failure := range map[string]error{
		"409": apierrors.NewConflict(resource, "ann", errors.New("changed")),
		"422": apierrors.NewInvalid(schema.GroupKind{}, "ann", nil),
		"404": apierrors.NewNotFound(resource, "ann"),
	} {
		s := newStage(t, workspace("RUNNING", noon))
		s.failPatch = failure
		if result := s.passAfter(time.Hour); result.RequeueAfter != retry {
			t.Errorf("%s: %v", name, result)
		}
		s.failPatch = nil
		s.passAfter(retry)
		s.desires("STANDBY", 2, 2)
	}
	s := newStage(t, workspace("RUNNING", noon.Add(-time.Hour)))
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team", Name: "ann"}}
	s.failLease = errors.New("no answer")
	if _, err := s.reconciler.Reconcile(t.Context(), request); !errors.Is(err, s.failLease) {
		t.Errorf("without an answer about the Lease: %v", err)
	}
	s.desires("RUNNING", 0, 1)
	s.failLease, s.failPatch = nil, errors.New("refused")
	if _, err := s.reconciler.Reconcile(t.Context(), request); !errors.Is(err, s.failPatch) {
		t.Errorf("when the write fails: %v", err)
	}
	s.must(s.Delete(t.Context(), s.read()))
	s.passAfter(0)
	if len(s.reconciler.memory.leases) > 0 {
		t.Error("a Workspace that is gone is remembered")
	}
}
