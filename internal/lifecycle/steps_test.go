package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/lifecycle"
)

// steps returns what a history's controllers did, in order: actions by their kind, writes by their code.
func (h *history) steps() (did []string) {
	for _, line := range h.log {
		if _, what, found := strings.Cut(line, " A: "); found {
			words := strings.Fields(what)
			if last := words[len(words)-1]; strings.Contains(what, "->") {
				did = append(did, "write "+last)
			} else {
				did = append(did, words[1])
			}
		}
	}
	h.log = nil
	return did
}

// TestSteps checks the order of each operation: state is persisted before it is acted on, and the volume
// is deleted last (W19-W29, D4, D18).
func TestSteps(t *testing.T) {
	h := quiet(lifecycle.Decide)
	expect := func(name string, want ...string) {
		t.Helper()
		h.trace(t)
		if diff := cmp.Diff(want, h.steps()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	expect("up",
		"write Working", "AddFinalizer",
		"write Claimed", "CreateVolume", "MarkVolume", "write Finished",
		"write Claimed", "CreatePod", "write Finished")
	h.write()
	h.want(lifecycle.Pending)
	expect("down",
		"write Claimed", "DeletePod", "write Finished",
		"write Claimed",
		"write Working", "CreateJob", // its name first
		"DeleteJob", "write ArchiveReady", "DeleteVolume", "write Finished")
	h.want(lifecycle.Standby)
	expect("back",
		"write Claimed", "CreateVolume",
		"write Working", // the volume's UID
		"write Working", "CreateJob", "MarkVolume", "DeleteJob", "write Finished")
	h.ws.Deleting, h.ws.DeletionPolicy = true, lifecycle.ArchiveHome
	h.rv++
	expect("away",
		"write Claimed", "write Working", "CreateJob", "DeleteJob", "write ArchiveReady", "DeleteVolume", "write Finished",
		"write Claimed", "KeepArchive", "RemoveFinalizer")
}

// TestConverged: a Workspace at rest costs no write and no live read, in each state and at each pass.
func TestConverged(t *testing.T) {
	h := quiet(lifecycle.Decide)
	for _, state := range []lifecycle.State{lifecycle.Running, lifecycle.Standby, lifecycle.Pending, lifecycle.Running} {
		h.want(state)
		h.trace(t)
		in := h.input(h.snapshot())
		if d := lifecycle.Decide(in); d.Act.Kind != lifecycle.ActNone || d.Status != in.Status || d.RequeueAt.Sub(in.Now) != lifecycle.Poll {
			t.Errorf("%s: %s, %s, again after %s", state, d.Rule, d.Act.Kind, d.RequeueAt.Sub(in.Now))
		}
		if d := lifecycle.Decide(in); d.Conditions.Ready.Status != lifecycle.True || d.Conditions.Progressing.Status != lifecycle.False {
			t.Errorf("%s: %+v", state, d.Conditions)
		}
	}
}

// TestConditions checks the conditions of a Workspace.
func TestConditions(t *testing.T) {
	yes, no := lifecycle.True, lifecycle.False
	is := func(status lifecycle.Truth, code lifecycle.Code) lifecycle.Condition {
		return lifecycle.Condition{Status: status, Reason: code}
	}
	quietly := is(no, lifecycle.CodeConverged)
	keyed := func(in *lifecycle.Input) { in.Status.ArchiveKey = "archives/w/old/home.tar.gz" }
	lostly := func(code lifecycle.Code) func(*lifecycle.Input) {
		return func(in *lifecycle.Input) {
			in.Status.Phase, in.Status.Error = lifecycle.Failed, lifecycle.Failure{Reason: lifecycle.DataLost, Operation: lifecycle.Restoring, Code: code}
		}
	}
	tests := []struct {
		name string
		in   lifecycle.Input
		want lifecycle.Conditions
	}{
		{"in STANDBY", at(), lifecycle.Conditions{
			Ready: is(yes, lifecycle.CodeConverged), VolumeReady: is(yes, lifecycle.CodeVolumeReady), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(no, lifecycle.CodeNoArchive), Progressing: quietly, Stalled: quietly,
		}},
		{"the Pod is not ready for a while", at(want(lifecycle.Running), inPod(lifecycle.PodNotReady), func(in *lifecycle.Input) { in.Status.Phase = lifecycle.Running }), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodePodNotReady), VolumeReady: is(yes, lifecycle.CodeVolumeReady), PodReady: is(no, lifecycle.CodePodNotReady),
			ArchiveReady: is(no, lifecycle.CodeNoArchive), Progressing: is(no, lifecycle.CodePodNotReady), Stalled: quietly,
		}},
		{"the home is gone", at(volumeIs(lifecycle.VolumeAbsent)), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodeVolumeLost), VolumeReady: is(no, lifecycle.CodeVolumeLost), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(no, lifecycle.CodeNoArchive), Progressing: is(no, lifecycle.CodeVolumeLost), Stalled: is(yes, lifecycle.CodeVolumeLost),
		}},
		{"archiving", at(inOperation(lifecycle.Archiving, 0), moving(lifecycle.JobRunning)), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodeWorking), VolumeReady: is(yes, lifecycle.CodeVolumeReady), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(no, lifecycle.CodeNoArchive), Progressing: is(yes, lifecycle.CodeWorking), Stalled: quietly,
		}},
		{"what was uploaded is not the home", at(inOperation(lifecycle.Archiving, 0), keyed, found(lifecycle.Verified, 2)), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodeArchiveCorrupt), VolumeReady: is(yes, lifecycle.CodeVolumeReady), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(yes, lifecycle.CodeArchiveReady), Progressing: is(yes, lifecycle.CodeArchiveCorrupt), Stalled: quietly,
		}},
		{"the archive is lost", at(unrecorded, keyed, volumeIs(lifecycle.VolumeAbsent), lostly(lifecycle.CodeArchiveLost)), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodeArchiveLost), VolumeReady: is(no, lifecycle.CodeVolumeAbsent), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(no, lifecycle.CodeArchiveLost), Progressing: is(no, lifecycle.CodeStalled), Stalled: is(yes, lifecycle.CodeArchiveLost),
		}},
		{"the archive is corrupt", at(unrecorded, keyed, volumeIs(lifecycle.VolumeAbsent), lostly(lifecycle.CodeArchiveCorrupt)), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodeArchiveCorrupt), VolumeReady: is(no, lifecycle.CodeVolumeAbsent), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(no, lifecycle.CodeArchiveCorrupt), Progressing: is(no, lifecycle.CodeStalled), Stalled: is(yes, lifecycle.CodeArchiveCorrupt),
		}},
		{"the volume is lost, with an archive", at(keyed, volumeIs(lifecycle.VolumeAbsent)), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodeVolumeLost), VolumeReady: is(no, lifecycle.CodeVolumeLost), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(yes, lifecycle.CodeArchiveReady), Progressing: is(no, lifecycle.CodeVolumeLost), Stalled: is(yes, lifecycle.CodeVolumeLost),
		}},
		{"as many run as may", at(want(lifecycle.Running), func(in *lifecycle.Input) { in.Limits.OwnerFull = true }), lifecycle.Conditions{
			Ready: is(no, lifecycle.CodeOwnerLimit), VolumeReady: is(yes, lifecycle.CodeVolumeReady), PodReady: is(no, lifecycle.CodePodGone),
			ArchiveReady: is(no, lifecycle.CodeNoArchive), Progressing: is(no, lifecycle.CodeOwnerLimit), Stalled: quietly,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lifecycle.Decide(tt.in).Conditions); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNames: names of Jobs have at most 63 characters, and keys are valid (W26).
func TestNames(t *testing.T) {
	name := lifecycle.JobName(strings.Repeat("n", 50), "0123456789abcdef", 99)
	if len(name) > 63 || !strings.HasSuffix(name, "-012345-99") {
		t.Errorf("%s has %d characters", name, len(name))
	}
	if key := lifecycle.ArchiveKey("u", "o"); key != "archives/u/o/home.tar.gz" {
		t.Error(key)
	}
}

// BenchmarkDecide is the decision about a Workspace at rest (W41).
func BenchmarkDecide(b *testing.B) {
	in := at(cached)
	for b.Loop() {
		lifecycle.Decide(in)
	}
}
