package lifecycle_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// at is an input with a home in STANDBY, that is wanted there, with everything read live.
func at(changes ...func(*lifecycle.Input)) lifecycle.Input {
	in := lifecycle.Input{
		Now: noon, NewID: "new-id",
		Workspace: lifecycle.Workspace{Name: "home", UID: "w", Generation: 1, Desired: lifecycle.Standby, HasStore: true, Finalizer: true, ArchiveReady: lifecycle.False},
		Status: lifecycle.Status{
			ObservedGeneration: 1, Phase: lifecycle.Standby, Operation: lifecycle.Operation{Type: lifecycle.None},
			Volume: lifecycle.Volume{UID: "v", Content: lifecycle.Empty, Epoch: 3}, StandbySince: noon.Add(-time.Hour),
		},
		Observed: lifecycle.Observation{
			Live: true, PodsLive: true,
			Volume: lifecycle.VolumeView{State: lifecycle.VolumeBound, UID: "v", ResourceVersion: "7", OperationID: "made", Marker: lifecycle.Marker{Content: lifecycle.Empty, OperationID: "made"}},
		},
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func want(state lifecycle.State) func(*lifecycle.Input) {
	return func(in *lifecycle.Input) { in.Workspace.Desired = state }
}

// inOperation is an operation in its first attempt, started some time ago.
func inOperation(operation lifecycle.OperationType, ago time.Duration) func(*lifecycle.Input) {
	return func(in *lifecycle.Input) {
		in.Status.Operation = lifecycle.Operation{Type: operation, ID: "op", StartedAt: noon.Add(-ago), Attempt: 1, AttemptStartedAt: noon.Add(-ago)}
		if operation == lifecycle.Archiving {
			in.Workspace.Desired = lifecycle.Pending
		}
	}
}

func moving(state lifecycle.JobState) func(*lifecycle.Input) {
	return func(in *lifecycle.Input) {
		in.Status.Operation.JobName = "ws-home-op-1"
		in.Observed.Jobs = []lifecycle.Job{{Name: "ws-home-op-1", UID: "j", State: state, OperationID: "op", Attempt: 1, VolumeUID: "v"}}
	}
}

// found is the content of the store under the operation's key.
func found(verdict lifecycle.Verdict, epoch int64) func(*lifecycle.Input) {
	return func(in *lifecycle.Input) {
		in.Archive = lifecycle.ArchiveView{Key: "archives/w/op/home.tar.gz", Verdict: verdict, Archive: lifecycle.Archive{SHA256: "s", Size: 1, VolumeUID: "v", Epoch: epoch}}
	}
}

// archivedVolume: the archive is recorded, the volume is about to go.
func archivedVolume(in *lifecycle.Input) {
	in.Status.Operation.PointOfNoReturn = true
	in.Status.ArchiveKey, in.Status.Volume.Content = "archives/w/op/home.tar.gz", lifecycle.Uninitialized
	in.Status.Archive = lifecycle.Archive{SHA256: "s", Size: 1, VolumeUID: "v", Epoch: 3}
}

func inPod(state lifecycle.PodState) func(*lifecycle.Input) {
	return func(in *lifecycle.Input) {
		in.Observed.Pod = lifecycle.Pod{State: state, UID: "p", OperationID: "op", Attempt: 1}
	}
}

func volumeIs(state lifecycle.VolumeState) func(*lifecycle.Input) {
	return func(in *lifecycle.Input) {
		if in.Observed.Volume.State = state; state == lifecycle.VolumeAbsent {
			in.Observed.Volume = lifecycle.VolumeView{}
		}
	}
}

func cached(in *lifecycle.Input) { in.Observed.Live, in.Observed.PodsLive = false, false }

// unrecorded: nothing is recorded, the volume was created by the operation and is not marked.
func unrecorded(in *lifecycle.Input) {
	in.Status.Phase, in.Status.Volume, in.Workspace.Desired = lifecycle.Pending, lifecycle.Volume{}, lifecycle.Running
	in.Observed.Volume.OperationID, in.Observed.Volume.Marker = "op", lifecycle.Marker{}
}

type verdictCase struct {
	name string
	in   lifecycle.Input
	rule string
	act  lifecycle.ActionKind
	code lifecycle.Code
	// operation and phase afterwards; "" for those before.
	operation lifecycle.OperationType
	phase     lifecycle.State
}

func (c verdictCase) errs(decide engine) string {
	d := decide(c.in)
	operation, phase := c.operation, c.phase
	if operation == "" {
		operation = c.in.Status.Operation.Type
	}
	if phase == "" {
		phase = c.in.Status.Phase
	}
	got := verdictCase{rule: d.Rule, act: d.Act.Kind, code: d.Code, operation: d.Status.Operation.Type, phase: d.Status.Phase}
	if got.rule != c.rule || got.act != c.act || got.code != c.code || got.operation != operation || got.phase != phase {
		return got.rule + ": " + string(got.act) + ", " + string(got.code) + ", " + string(got.operation) + ", " + string(got.phase) +
			"; want " + c.rule + ": " + string(c.act) + ", " + string(c.code) + ", " + string(operation) + ", " + string(phase)
	}
	return ""
}

func TestDecide(t *testing.T) {
	for _, tt := range verdictCases() {
		t.Run(tt.name, func(t *testing.T) {
			if errs := tt.errs(lifecycle.Decide); errs != "" {
				t.Error(errs)
			}
		})
	}
}
