package message_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

const (
	workspaceUID = "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11"
	volumeUID    = "5a0b9c1e-0d7e-4f0e-9d6c-2f1b8f7f9a22"
	operationID  = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
	archiveKey   = "archives/" + workspaceUID + "/" + archiveOperation + "/home.tar.gz"

	archiveOperation = "aaaaaaaa-58cc-4372-a567-0e02b2c3d479"
	olderOperation   = "bbbbbbbb-58cc-4372-a567-0e02b2c3d479"
	olderKey         = "archives/" + workspaceUID + "/" + olderOperation + "/home.tar.gz"
)

var eight = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// situation is one decision and what it is based on.
type situation struct {
	name   string
	before lifecycle.Status
	code   lifecycle.Code
	after  func(*lifecycle.Status)
	seen   lifecycle.Observation
	ready  bool
	alter  func(*v1alpha1.Workspace)
	detail message.Detail
	// running of the same owner.
	running []string
	// cause is why the store did not answer. held: the deletion waits for a person.
	cause string
	held  bool
}

func (s situation) facts() message.Facts {
	ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ann", UID: workspaceUID, Generation: 3}}
	ws.Spec.DesiredState, ws.Spec.TerminationGracePeriodSeconds = v1alpha1.DesiredRunning, 30
	ws.Spec.Archive = &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "homes"}}
	ws.Status = statusconv.Write(ws, s.before, s.seen)
	if s.alter != nil {
		s.alter(ws)
	}
	after := s.before
	if s.after != nil {
		s.after(&after)
	}
	yes := lifecycle.Condition{Status: lifecycle.True, Reason: lifecycle.CodeConverged}
	because := lifecycle.Condition{Status: lifecycle.False, Reason: s.code}
	decision := lifecycle.Decision{Status: after, Code: s.code}
	decision.Conditions = lifecycle.Conditions{
		Ready: because, Progressing: because, Stalled: lifecycle.Condition{Status: lifecycle.False, Reason: lifecycle.CodeConverged},
		VolumeReady:  lifecycle.Condition{Status: lifecycle.True, Reason: lifecycle.CodeVolumeReady},
		PodReady:     lifecycle.Condition{Status: lifecycle.False, Reason: lifecycle.CodePodGone},
		ArchiveReady: lifecycle.Condition{Status: lifecycle.False, Reason: lifecycle.CodeNoArchive},
	}
	if s.ready {
		decision.Conditions.Ready = yes
	}
	if after.Error.Reason == lifecycle.DataLost && (s.code == lifecycle.CodeArchiveLost || s.code == lifecycle.CodeArchiveCorrupt) {
		decision.Conditions.ArchiveReady.Reason = s.code
	}
	if s.held {
		decision.Conditions.Stalled = lifecycle.Condition{Status: lifecycle.True, Reason: s.code}
	}
	if after.Phase == lifecycle.Failed {
		decision.Conditions.Stalled = lifecycle.Condition{Status: lifecycle.True, Reason: after.Error.Code}
		decision.Conditions.Ready.Reason = after.Error.Code
	}
	return message.Facts{
		Workspace: ws, Decision: decision, Observed: s.seen, Detail: s.detail, Cause: s.cause, Newest: lifecycle.ArchiveView{Key: archiveKey, Older: olderKey}, Store: "https://s3.example.com/new/", Running: s.running, Limits: message.Limits{Owner: 2, Namespace: 20, All: 100, Movers: 10, Kept: 2},
	}
}

// status is one with a home on its volume.
func status(phase lifecycle.State, operation lifecycle.OperationType) lifecycle.Status {
	s := lifecycle.Status{
		ObservedGeneration: 3, Phase: phase, Operation: lifecycle.Operation{Type: operation},
		Volume: lifecycle.Volume{UID: volumeUID, Content: lifecycle.Empty, Epoch: 7},
	}
	if operation != lifecycle.None {
		s.Operation = lifecycle.Operation{
			Type: operation, ID: operationID, StartedAt: eight.Add(-time.Hour), Attempt: 1, AttemptStartedAt: eight.Add(-301 * time.Second),
			JobName: "ws-ann-f47ac1-1",
		}
	}
	return s
}

// archived adds an archive to the status.
func archived(s lifecycle.Status) lifecycle.Status {
	s.ArchiveKey = archiveKey
	s.Archive = lifecycle.Archive{SHA256: "5f70", Size: 5 << 30, VolumeUID: volumeUID, Epoch: 7, CompletedAt: eight, Store: "https://s3.example.com/homes/"}
	return s
}

// failed is what the engine writes when an attempt fails and another one follows.
func failed(reason lifecycle.Reason, code lifecycle.Code) func(*lifecycle.Status) {
	return func(s *lifecycle.Status) {
		s.Error = lifecycle.Failure{Reason: reason, Operation: s.Operation.Type, Code: code, OccurredAt: eight}
		s.Operation.Attempt++
		s.Operation.NextRetryAt, s.Operation.JobName = eight.Add(30*time.Second), ""
	}
}

// stalled is what it writes when no other attempt follows.
func stalled(reason lifecycle.Reason, code lifecycle.Code) func(*lifecycle.Status) {
	return func(s *lifecycle.Status) {
		s.Error = lifecycle.Failure{Reason: reason, Operation: s.Operation.Type, Code: code, OccurredAt: eight}
		s.Phase, s.Operation = lifecycle.Failed, lifecycle.Operation{Type: lifecycle.None}
	}
}
