package lifecycle_test

import (
	"testing"

	"kyklos.io/kyklos/internal/lifecycle"
)

// backUp takes a backup of the volume, or brings the last one back in place of a volume that is gone, as another volume. A backup
// tool keeps labels and annotations; a volume that was made by hand has none.
func (h *history) backUp() {
	if v := h.vol; v != nil && !v.foreign && v.version > 0 && v.marker.Content != "" && v.state != lifecycle.VolumeLost {
		kept := *v
		h.backup = &kept
		return
	}
	if h.backup == nil || h.vol != nil && !h.vol.foreign && h.vol.state != lifecycle.VolumeLost || h.pod != nil || len(h.jobs) > 0 || h.debug > 0 || h.ws.Deleting {
		return
	}
	back := *h.backup
	back.uid, back.state, back.release, back.rv = h.id(), lifecycle.VolumeBound, false, 0
	if h.pick(2) == 0 {
		back.foreign, back.marker, back.op = true, lifecycle.Marker{}, ""
	}
	h.vol, h.damaged = &back, true
	h.logf("a person brings version %d back as volume %s, foreign %t, and chooses it", back.version, back.uid, back.foreign)
	h.ws.Adopts, h.ws.RetryToken = back.uid, h.id()
	h.rv++
	if h.excused, h.rebase = false, false; back.version != h.written { // as they wish
		h.excused, h.rebase = true, true
	}
}

// W78: a chosen volume becomes the home, whatever else is known, and no other volume does.
func TestAChosenVolumeIsAdopted(t *testing.T) {
	const act, none, L = lifecycle.ActAdoptVolume, lifecycle.None, lifecycle.ActNone
	type in = lifecycle.Input
	back := func(i *in) { i.Observed.Volume.UID, i.Workspace.Adopts = "back", "back" }
	foreign := func(i *in) { i.Observed.Volume.Foreign, i.Observed.Volume.Marker = true, lifecycle.Marker{} }
	archived := func(i *in) { i.Status.ArchiveKey, i.Status.Archive.Epoch = "archives/w/op/home.tar.gz", 4 }
	chooses := func(uid string) func(*in) { return func(i *in) { i.Workspace.Adopts = uid } }
	for _, tt := range []verdictCase{
		{"of another Workspace, or by hand", at(back, foreign), "Adopt", act, lifecycle.CodeWorking, "", ""},
		{"by a backup tool", at(back), "Adopt", L, lifecycle.CodeAdopted, none, ""},
		{"though there is an archive", at(back, archived), "Adopt", L, lifecycle.CodeAdopted, none, ""},
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
	if got := lifecycle.Decide(at(back, archived)).Status.Volume; got.UID != "back" || got.Epoch != 5 {
		t.Errorf("recorded as %+v, want it to be newer than the archive", got)
	}
}
