package lifecycle_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// cornerCases are rows that the simulator showed to matter.
func cornerCases() []verdictCase {
	const (
		L, P, R = lifecycle.ActNone, lifecycle.Pending, lifecycle.Running
		none    = lifecycle.None
	)
	type in = lifecycle.Input
	forgotten := func(i *in) { i.Status.Volume, i.Status.Phase = lifecycle.Volume{}, P }
	half := func(i *in) { i.Status.Volume.Content, i.Status.Phase = "", P }
	archived := func(i *in) { i.Status.ArchiveKey = "archives/w/op/home.tar.gz" }
	stray := func(state lifecycle.JobState) func(*in) {
		return func(i *in) {
			i.Seen.Jobs = []lifecycle.Job{{Name: "stray", UID: "s", State: state, OperationID: "other", Attempt: 1, VolumeUID: "v"}}
		}
	}
	leftover := func(i *in) { i.Status.Operation, i.Status.Phase = lifecycle.Claim{Type: none}, P }
	deleting := func(policy lifecycle.DeletionPolicy) func(*in) {
		return func(i *in) { i.Workspace.Deleting, i.Workspace.DeletionPolicy = true, policy }
	}
	removing := func(i *in) {
		i.Status.Phase, i.Status.Operation = lifecycle.Deleting, lifecycle.Claim{Type: lifecycle.Removing, ID: "op", Attempt: 1, AttemptStartedAt: noon}
	}
	foreignVolume := func(i *in) { i.Seen.Volume.Foreign = true }
	foreignPod := func(i *in) { i.Seen.Pod = lifecycle.Pod{State: lifecycle.PodReady, Foreign: true, UID: "f"} }
	restoring := func(i *in) {
		claimed(lifecycle.Restoring, 0)(i)
		archived(i)
		i.Status.Volume = lifecycle.Volume{UID: "v", Content: lifecycle.Uninitialized}
	}
	restored := func(i *in) {
		i.Seen.Volume.Marker = lifecycle.Marker{Content: lifecycle.Restored, RestoredFrom: i.Status.ArchiveKey, OperationID: "op"}
	}
	homeless := func(i *in) {
		i.Status.Phase, i.Status.Error = lifecycle.Failed, lifecycle.Failure{Reason: lifecycle.DataLost, Operation: lifecycle.Archiving, Word: lifecycle.WordVolumeLost}
		i.Workspace.Generation, i.Workspace.RetryToken = i.Status.ObservedGeneration+1, "again"
	}
	const key = "archives/w/k/home.tar.gz"
	old := func(i *in) { i.Workspace.CreatedAt = noon.Add(-time.Hour) }
	young := func(i *in) { i.Workspace.CreatedAt = noon.Add(-time.Minute) }
	wiped := func(i *in) { i.Status, i.Workspace.ArchiveReady = lifecycle.Status{}, "" }
	noHint := func(i *in) { i.Status.Volume, i.Status.Phase, i.Workspace.Desired = lifecycle.Volume{}, P, R }
	hint := func(i *in) { noHint(i); i.Status.Archive = lifecycle.Archive{SHA256: "s", Size: 1} }
	gone := volumeIs(lifecycle.VolumeAbsent)
	answer := func(verdict lifecycle.Verdict) func(*in) {
		return func(i *in) { i.Found = lifecycle.ArchiveView{Key: key, Verdict: verdict} }
	}
	accepted := func(i *in) { i.Workspace.AcceptedLoss = key }
	return []verdictCase{
		{"a lost status asks the store first", at(old, wiped, gone), "Recall", lifecycle.ActFindArchive, lifecycle.WordWorking, "", ""},
		{"but not one of a new Workspace", at(young, wiped, gone), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, P},
		{"nor one whose home is on its volume", at(old, wiped), "Adopt", L, lifecycle.WordAdopted, none, P},
		{"a lost status, and the archive is found", at(old, wiped, gone, answer(lifecycle.Verified)), "Recall", L, lifecycle.WordAdopted, none, P},
		{"a lost status, and there is no archive", at(old, wiped, gone, want(R), answer(lifecycle.Absent)), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, P},
		{"a lost status, and no Secret says where", at(old, wiped, gone, answer(lifecycle.NotConfigured)), "Recall", L, lifecycle.WordStoreUnreachable, "", ""},
		{"a hint asks the store", at(young, hint, gone), "Recall", lifecycle.ActFindArchive, lifecycle.WordWorking, "", ""},
		{"a hint, on a cache", at(young, hint, gone, cached), "Recall", lifecycle.ActLook, lifecycle.WordWorking, "", ""},
		{"a hint, and a damaged archive", at(young, hint, gone, answer(lifecycle.Corrupt)), "Recall", L, lifecycle.WordAdopted, "", ""},
		{"a hint, and the store is away", at(young, hint, gone, answer(lifecycle.StoreUnreachable)), "Recall", L, lifecycle.WordStoreUnreachable, "", ""},
		{"a hint, and the bucket is missing", at(young, hint, gone, answer(lifecycle.BucketMissing)), "Recall", L, lifecycle.WordBucketMissing, "", ""},
		{"a hint, and no Secret says where", at(young, hint, gone, answer(lifecycle.NotConfigured)), "Recall", L, lifecycle.WordStoreUnreachable, "", ""},
		{"a hint that leads nowhere", at(young, hint, gone, answer(lifecycle.Absent)), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, ""},
		{"a hint that leads to an accepted loss", at(young, hint, gone, answer(lifecycle.Verified), accepted), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, ""},
		{"no hint, before an empty home is made", at(old, noHint, gone), "Claim", lifecycle.ActFindArchive, lifecycle.WordWorking, "", ""},
		{"no hint, and an archive all the same", at(old, noHint, gone, answer(lifecycle.Verified)), "Claim", L, lifecycle.WordAdopted, "", ""},
		{"no hint, and the store is away", at(old, noHint, gone, answer(lifecycle.BucketMissing)), "Claim", L, lifecycle.WordBucketMissing, "", ""},
		{"no hint, and no Secret says where", at(old, noHint, gone, answer(lifecycle.NotConfigured)), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, ""},
		{"no hint, in a new Workspace", at(young, noHint, gone), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, ""},
		{"no hint, and a loss was accepted", at(old, noHint, gone, accepted), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, ""},
		{"no hint, in an archive that is not configured", at(old, noHint, gone, func(i *in) { i.Workspace.HasStore = false }), "Claim", L, lifecycle.WordClaimed, lifecycle.Provisioning, ""},
		{"nothing starts on a volume whose home is gone", at(homeless, want(R)), "Stalled", L, lifecycle.WordStalled, "", ""},
		{"but ARCHIVING may look again", at(homeless, want(P)), "Stalled", L, lifecycle.WordRecovered, "", lifecycle.Standby},
		{"W3: a record was lost, the home was not", at(forgotten), "Adopt", L, lifecycle.WordAdopted, "", ""},
		{"beside an archive it is not known which is newer", at(forgotten, archived), "Adopt", L, lifecycle.WordVolumeUnknown, "", lifecycle.Failed},
		{"W3: what a volume holds was lost of its record", at(half), "Adopt", L, lifecycle.WordAdopted, "", ""},
		{"W3: also beside an older archive", at(half, archived, func(i *in) { i.Status.Archive.VolumeUID = "earlier" }), "Adopt", L, lifecycle.WordAdopted, "", ""},
		{"a volume without a marker is nobody's home", at(forgotten, func(i *in) { i.Seen.Volume.Marker = lifecycle.Marker{} }), "Waste", lifecycle.ActDeleteVolume, lifecycle.WordVolumeWaste, "", ""},
		{"a stranger's volume is left alone", at(forgotten, want(P), foreignVolume), "Converged", L, lifecycle.WordConverged, "", ""},
		{"a stranger's Pod is left alone", at(foreignPod), "Converged", L, lifecycle.WordConverged, "", ""},
		{"a stranger's Pod is in the way", at(claimed(lifecycle.Starting, 0), want(R), foreignPod), "Attempt", L, lifecycle.WordPodForeign, "", ""},
		{"D7: a Job of another time goes first", at(want(R), stray(lifecycle.JobRunning)), "Strays", lifecycle.ActDeleteJob, lifecycle.WordJobEnding, "", ""},
		{"D7: and is waited for", at(want(R), stray(lifecycle.JobTerminating)), "Strays", L, lifecycle.WordJobEnding, "", ""},
		{"D7: also while another works", at(claimed(lifecycle.Archiving, 0), stray(lifecycle.JobRunning), found(lifecycle.Absent, 0)), "Execute", lifecycle.ActDeleteJob, lifecycle.WordJobEnding, "", ""},
		{"a condemned volume, left over from ERROR", at(condemned, leftover, want(P)), "Waste", lifecycle.ActVerify, lifecycle.WordWorking, "", ""},
		{"goes, if its archive is good", at(condemned, leftover, want(P), found(lifecycle.Verified, 3)), "Waste", lifecycle.ActDeleteVolume, lifecycle.WordVolumeWaste, "", ""},
		{"is the home again, if not", at(condemned, leftover, want(P), found(lifecycle.Corrupt, 3)), "Waste", L, lifecycle.WordVolumeReprieved, "", ""},
		{"stays, if nobody knows", at(condemned, leftover, want(P), found(lifecycle.BucketMissing, 0)), "Waste", L, lifecycle.WordBucketMissing, "", ""},
		{"a Pod on a condemned volume", at(claimed(lifecycle.Archiving, 0), condemned, inPod(lifecycle.PodReady)), "Execute", L, lifecycle.WordVolumeReprieved, "", ""},
		{"a Pod while something may be uploaded", at(claimed(lifecycle.Archiving, 0), moving(lifecycle.JobRunning), inPod(lifecycle.PodNotReady)), "Execute", L, lifecycle.WordVolumeInUse, "", ""},
		{"a Pod before anything was", at(claimed(lifecycle.Archiving, 0), inPod(lifecycle.PodNotReady)), "Execute", lifecycle.ActDeletePod, lifecycle.WordWorking, "", ""},
		{"the upload was done when somebody deleted the volume", at(claimed(lifecycle.Archiving, 0), volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Verified, 3)), "Attempt", L, lifecycle.WordArchiveReady, "", ""},
		{"an upload under way saves a dying volume", at(claimed(lifecycle.Archiving, 0), moving(lifecycle.JobRunning), volumeIs(lifecycle.VolumeTerminating)), "Execute", L, lifecycle.WordWorking, "", ""},
		{"nor is it cancelled", at(claimed(lifecycle.Archiving, 0), moving(lifecycle.JobRunning), want(R), volumeIs(lifecycle.VolumeTerminating)), "Execute", L, lifecycle.WordWorking, "", ""},
		{"D18: a second manager made the Job once more", at(claimed(lifecycle.Archiving, 0), condemned, moving(lifecycle.JobSucceeded), volumeIs(lifecycle.VolumeTerminating)), "Execute", lifecycle.ActDeleteJob, lifecycle.WordJobEnding, "", ""},
		{"a Job that says more than the store", at(claimed(lifecycle.Archiving, 0), moving(lifecycle.JobSucceeded), found(lifecycle.Absent, 0)), "Execute", L, lifecycle.WordArchiveLost, "", ""},
		{"an archive that is gone", at(unhomed, restoring, func(i *in) { i.Archive = lifecycle.ArchiveView{Key: i.Status.ArchiveKey, Verdict: lifecycle.Absent} }), "Execute", L, lifecycle.WordArchiveLost, "", ""},
		{"D1: the Job's success is marked on the volume", at(unhomed, restoring, moving(lifecycle.JobSucceeded)), "Execute", lifecycle.ActMarkVolume, lifecycle.WordWorking, "", ""},
		{"D1: the Job goes before the operation ends", at(unhomed, restoring, moving(lifecycle.JobSucceeded), restored), "Execute", lifecycle.ActDeleteJob, lifecycle.WordJobEnding, "", ""},
		{"D1: and then it ends", at(unhomed, restoring, restored), "Complete", L, lifecycle.WordFinished, none, lifecycle.Standby},
		{"D1: a marker of an earlier restore", at(unhomed, restoring, restored, func(i *in) { i.Seen.Volume.Marker.OperationID = "earlier" }), "Execute", lifecycle.ActVerify, lifecycle.WordWorking, "", ""},
		{"deletion, Retain", at(deleting(lifecycle.RetainHome), removing), "Deleting", lifecycle.ActReleaseVolume, lifecycle.WordDeleting, "", ""},
		{"Retain: only the Pod keeps a volume that somebody deletes", at(deleting(lifecycle.RetainHome), removing, inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeTerminating)), "Deleting", L, lifecycle.WordVolumeTerminating, "", ""},
		{"also one that no record tells of", at(forgotten, deleting(lifecycle.RetainHome), removing, inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeTerminating)), "Deleting", L, lifecycle.WordVolumeTerminating, "", ""},
		{"deletion leaves a stranger's volume", at(deleting(lifecycle.DeleteHome), removing, foreignVolume), "Deleting", lifecycle.ActRemoveFinalizer, lifecycle.WordDeleting, "", ""},
		{"deletion never gives up", at(deleting(lifecycle.DeleteHome), removing, func(i *in) { i.Now = noon.Add(time.Hour) }), "Deleting", lifecycle.ActDeleteVolume, lifecycle.WordDeletionSlow, "", ""},
		{"deletion first archives", at(deleting(lifecycle.ArchiveHome)), "Claim", L, lifecycle.WordClaimed, lifecycle.Archiving, ""},
		{"deletion without a store waits for one", at(deleting(lifecycle.ArchiveHome), func(i *in) { i.Workspace.HasStore = false }), "Claim", L, lifecycle.WordArchiveNotConfigured, "", ""},
		{"D24: not where nothing can be made", at(deleting(lifecycle.ArchiveHome), func(i *in) { i.Workspace.NamespaceTerminating = true }), "Delete", L, lifecycle.WordDeletionUnarchived, lifecycle.Removing, lifecycle.Deleting},
		{"deletion is done", at(deleting(lifecycle.DeleteHome), func(i *in) { i.Workspace.Finalizer = false }), "Delete", L, lifecycle.WordDeleted, "", ""},
		{"no look at Pods, no upload", at(claimed(lifecycle.Archiving, 0), found(lifecycle.Absent, 0), func(i *in) { i.Seen.PodsLive = false }), "Execute", lifecycle.ActLookPods, lifecycle.WordWorking, "", ""},
	}
}

func TestCorners(t *testing.T) {
	for _, tt := range cornerCases() {
		t.Run(tt.name, func(t *testing.T) {
			if errs := tt.errs(lifecycle.Decide); errs != "" {
				t.Error(errs)
			}
		})
	}
}
