package lifecycle_test

import (
	"testing"

	"kyklos.io/kyklos/internal/lifecycle"
)

// backUp takes a backup of the volume, or brings the last one back in place of a volume that is gone, as another volume. A backup
// tool keeps labels and annotations; a volume that was made by hand has none.
func (h *history) backUp() {
	if v := h.vol; v != nil && !v.foreign && v.version > 0 && v.marker.Content != "" && v.state != lifecycle.VolumeLost && !v.rooted {
		kept := *v
		h.backup = &kept
		return
	}
	if h.backup == nil || h.vol != nil && !h.vol.foreign && h.vol.state != lifecycle.VolumeLost || h.pod != nil || len(h.jobs) > 0 || h.debug > 0 || h.ws.Deleting {
		return
	}
	back := *h.backup
	back.uid, back.state, back.back, back.release, back.rv = h.id(), lifecycle.VolumeBound, true, false, 0
	if h.pick(2) == 0 {
		back.foreign, back.marker, back.op = true, lifecycle.Marker{}, ""
		// What was decided before may start on it unseen, and nobody can keep it from that.
		back.rooted = h.pick(2) == 0 && h.controllers[0].pending == nil && h.controllers[1].pending == nil
	}
	h.vol, h.damaged = &back, true
	h.destroyed()
	h.logf("a person brings version %d back as volume %s, foreign %t, in the root %t", back.version, back.uid, back.foreign, back.rooted)
	if !back.foreign || h.pick(2) == 0 { // what has the labels is taken for the home as soon as the loss is accepted
		h.choose()
	}
}

// choose lets a person name the volume that was brought back as the home, at any time.
func (h *history) choose() {
	v := h.vol
	if v == nil || !v.back || v.uid == h.saved.Volume.UID || v.uid == h.ws.Adopts || v.state != lifecycle.VolumeBound || h.ws.Deleting {
		return
	}
	h.logf("a person chooses volume %s in %s, %s", v.uid, h.saved.Phase, h.saved.Operation.Type)
	h.ws.Adopts, h.ws.RetryToken = v.uid, h.id()
	h.rv++
	if h.excused, h.rebase = false, false; v.version != h.written { // as they wish
		h.excused, h.rebase = true, true
	}
}

// foundHome lets the Pod look for the home on its volume, if it is to. Otherwise the kubelet makes an empty one.
func (w *world) foundHome() bool {
	switch {
	case !w.vol.rooted:
		return true
	case w.pod.checks:
		w.pod.noHome = true
	default:
		w.fault("a Pod starts on an empty home, and version %d is in the root of the volume", w.vol.version)
	}
	return false
}

// tidy lets a user move the home into its folder, when Kyklos says that it is not there.
func (h *history) tidy() bool {
	v, code := h.vol, h.saved.Error.Code
	if v == nil || !v.rooted || v.uid != h.saved.Volume.UID || code != lifecycle.CodeFilesBesideHome && code != lifecycle.CodeVolumeLost {
		return false
	}
	h.logf("the home is moved into its folder")
	v.rooted = false
	h.ws.RetryToken = h.id()
	h.rv++
	return true
}

// W78: a chosen volume becomes the home, whatever else is known, and no other volume does.
func TestAChosenVolumeIsAdopted(t *testing.T) {
	const act, none, L = lifecycle.ActAdoptVolume, lifecycle.None, lifecycle.ActNone
	type in = lifecycle.Input
	back := func(i *in) { i.Observed.Volume.UID, i.Workspace.Adopts = "back", "back" }
	foreign := func(i *in) { i.Observed.Volume.Foreign, i.Observed.Volume.Marker = true, lifecycle.Marker{} }
	archived := func(i *in) { i.Status.ArchiveKey, i.Status.Archive.Epoch = "archives/w/op/home.tar.gz", 4 }
	claimed := func(i *in) { i.Observed.Volume.Marker.Adopted = true }
	making := func(operation lifecycle.OperationType) func(*in) {
		return func(i *in) {
			i.Status.Volume, i.Status.Phase = lifecycle.Volume{}, lifecycle.Pending
			failing(operation, lifecycle.CodeVolumeForeign)(i)
		}
	}
	erred := func(i *in) {
		i.Status.Volume, i.Status.Phase, i.Status.RetryToken = lifecycle.Volume{}, lifecycle.Failed, i.Workspace.RetryToken
		i.Status.Error = lifecycle.Failure{Reason: lifecycle.Mismatch, Code: lifecycle.CodeVolumeForeign, Operation: lifecycle.Provisioning, OccurredAt: noon}
	}
	pending := func(i *in) {
		i.Status.Volume, i.Status.Phase, i.Workspace.Desired, i.Workspace.RetryToken = lifecycle.Volume{}, lifecycle.Pending, lifecycle.Pending, "back"
		i.Observed.Volume = lifecycle.VolumeView{}
	}
	chooses := func(uid string) func(*in) { return func(i *in) { i.Workspace.Adopts = uid } }
	for _, tt := range []verdictCase{
		{"of another Workspace, or by hand", at(back, foreign), "Adopt", act, lifecycle.CodeWorking, "", ""},
		{"by a backup tool", at(back), "Adopt", act, lifecycle.CodeWorking, "", ""},
		{"once it is marked", at(back, claimed), "Adopt", L, lifecycle.CodeAdopted, none, ""},
		{"though there is an archive", at(back, archived, claimed), "Adopt", L, lifecycle.CodeAdopted, none, ""},
		{"W97: while another one is to be made", at(back, foreign, making(lifecycle.Provisioning)), "Cancel", L, lifecycle.CodeWorking, none, ""},
		{"W97: or restored", at(back, foreign, archived, making(lifecycle.Restoring)), "Cancel", L, lifecycle.CodeWorking, none, ""},
		{"W97: not the one that is being made", at(back, making(lifecycle.Provisioning), func(i *in) { i.Observed.Volume.OperationID = "op" }), "Execute", L, lifecycle.CodeRetrying, "", ""},
		{"W97: in ERROR", at(back, foreign, erred), "Stalled", L, lifecycle.CodeRecovered, none, lifecycle.Pending},
		{"W97: in ERROR, where no cache has it", at(chooses("back"), erred, func(i *in) { i.Observed.Live = false }), "Stalled", lifecycle.ActReadLive, lifecycle.CodeStalled, "", ""},
		{"W97: at PENDING, where no cache has it", at(chooses("back"), pending, func(i *in) { i.Observed.Live = false }), "Decline", lifecycle.ActReadLive, lifecycle.CodeNotAdopted, "", ""},
		{"W97: or it is not there", at(chooses("back"), pending), "Decline", L, lifecycle.CodeNotAdopted, none, ""},
		{"W97: which is said once", at(chooses("back"), pending, func(i *in) { i.Status.RetryToken = "back" }), "Converged", L, lifecycle.CodeConverged, none, ""},
		{"W97: and not of one that was archived", at(chooses("back"), pending, func(i *in) { i.Status.Archive.VolumeUID, i.Status.ArchiveKey = "back", "archives/w/op/home.tar.gz" }), "Converged", L, lifecycle.CodeConverged, none, ""},
		{"though a deletion has begun, it is left alone", at(back, foreign, func(i *in) {
			i.Workspace.Deleting, i.Workspace.DeletionPolicy = true, lifecycle.DeleteHome
			i.Status.Phase, i.Status.Operation = lifecycle.Deleting, lifecycle.Operation{Type: lifecycle.Removing, ID: "op", Attempt: 1, AttemptStartedAt: noon}
		}), "Deleting", lifecycle.ActRemoveFinalizer, lifecycle.CodeDeleting, "", ""},
		{"not while paused", at(back, foreign, func(i *in) { i.Workspace.Pause = true }), "Pause", L, lifecycle.CodePaused, none, lifecycle.Pending},
		{"not one that is named wrong", at(back, foreign, chooses("another")), "Lost", L, lifecycle.CodeVolumeLost, none, lifecycle.Failed},
		{"not one that something else controls", at(back, foreign, func(i *in) { i.Observed.Volume.Controlled = true }), "Lost", L, lifecycle.CodeVolumeLost, none, lifecycle.Failed},
		{"not one that is going", at(back, volumeIs(lifecycle.VolumeTerminating)), "Lost", L, lifecycle.CodeVolumeLost, none, lifecycle.Failed},
		{"nothing is decided from a cache", at(back, foreign, func(i *in) { i.Observed.Live = false }), "Adopt", lifecycle.ActReadLive, lifecycle.CodeWorking, "", ""},
		{"once recorded, the choice is over", at(chooses("v")), "Converged", L, lifecycle.CodeConverged, none, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if errs := tt.errs(lifecycle.Decide); errs != "" {
				t.Error(errs)
			}
		})
	}
	if got := lifecycle.Decide(at(back, archived, claimed)).Status.Volume; got.UID != "back" || got.Epoch != 5 || got.Content != lifecycle.Adopted {
		t.Errorf("recorded as %+v, want it to be newer than the archive", got)
	}
	if got := lifecycle.Decide(at(back, foreign, erred, func(i *in) { i.Workspace.RetryToken, i.Status.RetryToken = "back", "back" })).Status; got.RetryToken != "" {
		t.Errorf("no pass looks for it again: %+v", got)
	}
}

// W98: a Pod on an adopted volume looks for the home first. Without one it ends at once, and is not deleted for a retry only.
func TestAnAdoptedVolumeIsStartedOnceItsHomeWasSeen(t *testing.T) {
	type in = lifecycle.Input
	adopted := func(i *in) { i.Status.Volume.Content = lifecycle.Adopted }
	starting := at(want(lifecycle.Running), inOperation(lifecycle.Starting, 0), adopted)
	if d := lifecycle.Decide(starting); d.Act.Kind != lifecycle.ActCreatePod || !d.Act.CheckHome {
		t.Errorf("%+v", d.Act)
	}
	if d := lifecycle.Decide(at(want(lifecycle.Running), inOperation(lifecycle.Starting, 0))); d.Act.CheckHome {
		t.Error("so does a Pod on any other")
	}
	homeless := at(want(lifecycle.Running), inOperation(lifecycle.Starting, 0), adopted, inPod(lifecycle.PodNotReady), func(i *in) {
		i.Observed.Pod.OperationID, i.Observed.Pod.Attempt, i.Observed.Pod.NoHome = "op", 1, true
	})
	d := lifecycle.Decide(homeless)
	if d.Status.Operation.Failed != lifecycle.DataLost || d.Status.Error.Code != lifecycle.CodeVolumeLost || d.Status.Volume.Content != lifecycle.Adopted {
		t.Errorf("without a home: %+v", d.Status)
	}
	ready := at(want(lifecycle.Running), inOperation(lifecycle.Starting, 0), adopted, inPod(lifecycle.PodReady), func(i *in) {
		i.Observed.Pod.OperationID, i.Observed.Pod.Attempt = "op", 1
	})
	if d := lifecycle.Decide(ready); d.Status.Phase != lifecycle.Running || d.Status.Volume.Content != lifecycle.Restored {
		t.Errorf("with a home: %+v", d.Status)
	}
}
