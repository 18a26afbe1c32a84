package lifecycle_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// TestRestoreFrom: what a new home begins with (W67, W68).
func TestRestoreFrom(t *testing.T) {
	type in = lifecycle.Input
	const other = "archives/gone/op/home.tar.gz"
	fresh := func(i *in) {
		i.Status, i.Workspace.ArchiveReady, i.Workspace.Finalizer = lifecycle.Status{}, "", false
		i.Workspace.CreatedAt, i.Workspace.Desired = noon.Add(-time.Minute), lifecycle.Running
		i.Observed.Volume = lifecycle.VolumeView{}
	}
	held := func(i *in) { i.Workspace.CreatedAt = noon.Add(-time.Hour) }
	begun := func(i *in) {
		i.Status = lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: lifecycle.None}, ObservedGeneration: i.Workspace.Generation}
		i.Workspace.Finalizer, i.Workspace.ArchiveReady = true, lifecycle.False
	}
	from := func(name string) func(*in) { return func(i *in) { i.Workspace.RestoreFrom = name } }
	answer := func(verdict lifecycle.Verdict) func(*in) {
		return func(i *in) { i.Newest = lifecycle.ArchiveView{Key: other, Verdict: verdict} }
	}
	accepted := func(i *in) { i.Workspace.AcceptedLoss = other }
	left := func(i *in) {
		i.Observed.Volume = lifecycle.VolumeView{
			State: lifecycle.VolumeBound, Foreign: true, Released: true, Left: true, UID: "v", Marker: lifecycle.Marker{Content: lifecycle.Restored},
		}
	}
	chosen := func(i *in) { i.Workspace.Adopts = "v" }
	paused := func(i *in) { i.Workspace.Pause = true }
	const (
		L, P, none = lifecycle.ActNone, lifecycle.Pending, lifecycle.None
		finds      = lifecycle.ActFindArchive
		working    = lifecycle.CodeWorking
	)
	// The marker stays: without it the volume would be no home.
	if act := lifecycle.Decide(at(fresh, begun, left)).Act; act.Marker.Content != lifecycle.Restored {
		t.Errorf("a volume that was left behind is adopted with the marker %+v", act.Marker)
	}
	for _, tt := range []verdictCase{
		{"the store is asked", at(fresh), "Recall", finds, working, "", ""},
		{"an archive of the name is the home", at(fresh, answer(lifecycle.Verified)), "Recall", L, lifecycle.CodeArchiveFound, none, P},
		{"also a damaged one, which is reported", at(fresh, answer(lifecycle.Corrupt)), "Recall", L, lifecycle.CodeArchiveFound, none, P},
		{"without one the home is empty", at(fresh, answer(lifecycle.Absent)), "Protect", L, working, none, P},
		{"nothing begins while the store is away", at(fresh, answer(lifecycle.StoreUnreachable)), "Recall", L, lifecycle.CodeStoreUnreachable, "", ""},
		{"nor while its Secret is missing", at(fresh, answer(lifecycle.NotConfigured)), "Recall", L, lifecycle.CodeStoreUnreachable, "", ""},
		{"nor without the latest", at(fresh, from("latest"), answer(lifecycle.Absent)), "Recall", L, lifecycle.CodeArchiveNotFound, "", ""},
		{"nor without the named one", at(fresh, from(other), answer(lifecycle.Absent)), "Recall", L, lifecycle.CodeArchiveNotFound, "", ""},
		{"nor with one of another namespace", at(fresh, from(other), answer(lifecycle.NotOurs)), "Recall", L, lifecycle.CodeArchiveForeign, "", ""},
		{"nor while the newest kept one is not complete", at(fresh, answer(lifecycle.KeptLost)), "Recall", L, lifecycle.CodeKeptArchiveLost, "", ""},
		{"nor is it replaced later", at(fresh, held, begun, answer(lifecycle.KeptLost)), "Begin", L, lifecycle.CodeKeptArchiveLost, "", ""},
		{"nor is the latest", at(fresh, from("latest"), accepted, answer(lifecycle.KeptLost)), "Recall", L, lifecycle.CodeKeptArchiveLost, "", ""},
		{"until its loss is accepted", at(fresh, accepted, answer(lifecycle.KeptLost)), "Protect", L, working, none, P},
		{"the named one is the home", at(fresh, from(other), answer(lifecycle.Verified)), "Recall", L, lifecycle.CodeArchiveFound, none, P},
		{"also if an earlier Workspace gave it up", at(fresh, from(other), accepted, answer(lifecycle.Verified)), "Recall", L, lifecycle.CodeArchiveFound, none, P},
		{"empty asks nobody", at(fresh, from("empty")), "Protect", L, working, none, P},
		{"empty asks nobody, after it was held back", at(fresh, held, from("empty")), "Protect", L, working, none, P},
		{"empty, but there was a home", at(fresh, held, begun, func(i *in) { i.Status.Phase = "" }, from("empty")), "Recall", finds, working, "", ""},
		{"named later", at(fresh, begun, from(other)), "Recall", finds, working, "", ""},
		{"named later, and not there", at(fresh, begun, from(other), answer(lifecycle.Absent)), "Recall", L, lifecycle.CodeArchiveNotFound, "", ""},
		{"after an accepted loss the home is empty", at(fresh, begun, from(other), accepted), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
		{"a volume that was left behind is the home", at(fresh, begun, left), "Inherit", lifecycle.ActAdoptVolume, working, "", ""},
		{"before that, the finalizer", at(fresh, left), "Protect", L, working, none, P},
		{"not if an archive is named", at(fresh, begun, left, from("latest")), "Recall", finds, working, "", ""},
		{"the volume that a person chose is, without an answer", at(fresh, begun, left, from(other), chosen, answer(lifecycle.StoreUnreachable)), "Adopt", lifecycle.ActAdoptVolume, working, "", ""},
		{"also in place of an archive that is not there", at(fresh, begun, left, from(other), chosen, answer(lifecycle.Absent)), "Adopt", lifecycle.ActAdoptVolume, working, "", ""},
		{"but not while paused", at(fresh, begun, left, from(other), chosen, answer(lifecycle.StoreUnreachable), paused), "Recall", L, lifecycle.CodeStoreUnreachable, "", ""},
		{"one that was left behind and chosen is adopted once", at(fresh, begun, left, chosen), "Inherit", lifecycle.ActAdoptVolume, working, "", ""},
		{"nor if an empty one is asked for", at(fresh, begun, left, from("empty")), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if errs := tt.errs(lifecycle.Decide); errs != "" {
				t.Error(errs)
			}
		})
	}
}
