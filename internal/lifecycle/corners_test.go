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
			i.Observed.Jobs = []lifecycle.Job{{Name: "stray", UID: "s", State: state, OperationID: "other", Attempt: 1, VolumeUID: "v"}}
		}
	}
	leftover := func(i *in) { i.Status.Operation, i.Status.Phase = lifecycle.Operation{Type: none}, P }
	deleting := func(policy lifecycle.DeletionPolicy) func(*in) {
		return func(i *in) { i.Workspace.Deleting, i.Workspace.DeletionPolicy = true, policy }
	}
	removing := func(i *in) {
		i.Status.Phase, i.Status.Operation = lifecycle.Deleting, lifecycle.Operation{Type: lifecycle.Removing, ID: "op", Attempt: 1, AttemptStartedAt: noon}
	}
	foreignVolume := func(i *in) { i.Observed.Volume.Foreign = true }
	foreignPod := func(i *in) { i.Observed.Pod = lifecycle.Pod{State: lifecycle.PodReady, Foreign: true, UID: "f"} }
	restoring := func(i *in) {
		inOperation(lifecycle.Restoring, 0)(i)
		archived(i)
		i.Status.Volume = lifecycle.Volume{UID: "v", Content: lifecycle.Uninitialized}
	}
	restored := func(i *in) {
		i.Observed.Volume.Marker = lifecycle.Marker{Content: lifecycle.Restored, RestoredFrom: i.Status.ArchiveKey, OperationID: "op"}
	}
	withoutHome := func(i *in) {
		i.Status.Phase, i.Status.Error = lifecycle.Failed, lifecycle.Failure{Reason: lifecycle.DataLost, Operation: lifecycle.Archiving, Code: lifecycle.CodeVolumeLost}
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
		return func(i *in) { i.Newest = lifecycle.ArchiveView{Key: key, Verdict: verdict} }
	}
	accepted := func(i *in) { i.Workspace.AcceptedLoss = key }
	pod := func(i *in) {
		i.Observed.Pod = lifecycle.Pod{State: lifecycle.PodNotReady, UID: "p", OperationID: "op", Attempt: 1}
	}
	emptied := func(i *in) {
		i.Status.Phase, i.Status.Volume.Content, i.Workspace.Desired = P, lifecycle.Uninitialized, P
		i.Status.Archive = lifecycle.Archive{SHA256: "s", VolumeUID: "v", Epoch: 3}
	}
	return []verdictCase{
		{"a Pod that cannot start keeps a volume that is being deleted", at(want(R), inOperation(lifecycle.Starting, 0), volumeIs(lifecycle.VolumeTerminating), pod), "Execute", L, lifecycle.CodeVolumeTerminating, lifecycle.Starting, ""},
		{"until its loss is accepted", at(want(R), inOperation(lifecycle.Starting, 0), volumeIs(lifecycle.VolumeTerminating), pod, func(i *in) { i.Workspace.AcceptedLoss = "v" }), "Execute", lifecycle.ActDeletePod, lifecycle.CodeWorking, lifecycle.Starting, ""},
		{"a volume whose archive is no longer recorded is the home again", at(emptied), "Adopt", L, lifecycle.CodeAdopted, none, P},
		{"a lost status asks the store first", at(old, wiped, gone), "Recall", lifecycle.ActFindArchive, lifecycle.CodeWorking, "", ""},
		{"also that of a new Workspace", at(young, wiped, gone), "Recall", lifecycle.ActFindArchive, lifecycle.CodeWorking, "", ""},
		{"nor one whose home is on its volume", at(old, wiped), "Adopt", L, lifecycle.CodeAdopted, none, P},
		{"a lost status, and the archive is found", at(old, wiped, gone, answer(lifecycle.Verified)), "Recall", L, lifecycle.CodeAdopted, none, P},
		{"a lost status, and there is no archive", at(old, wiped, gone, want(R), answer(lifecycle.Absent)), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, P},
		{"a lost status, and no Secret says where", at(old, wiped, gone, answer(lifecycle.NotConfigured)), "Recall", L, lifecycle.CodeStoreUnreachable, "", ""},
		{"a hint asks the store", at(young, hint, gone), "Recall", lifecycle.ActFindArchive, lifecycle.CodeWorking, "", ""},
		{"a hint, on a cache", at(young, hint, gone, cached), "Recall", lifecycle.ActReadLive, lifecycle.CodeWorking, "", ""},
		{"a hint, and a damaged archive", at(young, hint, gone, answer(lifecycle.Corrupt)), "Recall", L, lifecycle.CodeAdopted, "", ""},
		{"a hint, and the store is away", at(young, hint, gone, answer(lifecycle.StoreUnreachable)), "Recall", L, lifecycle.CodeStoreUnreachable, "", ""},
		{"a hint, and the bucket is missing", at(young, hint, gone, answer(lifecycle.BucketMissing)), "Recall", L, lifecycle.CodeBucketMissing, "", ""},
		{"a hint, and no Secret says where", at(young, hint, gone, answer(lifecycle.NotConfigured)), "Recall", L, lifecycle.CodeStoreUnreachable, "", ""},
		{"a hint that leads nowhere", at(young, hint, gone, answer(lifecycle.Absent)), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
		{"a hint that leads to an accepted loss", at(young, hint, gone, answer(lifecycle.Verified), accepted), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
		{"no hint, before an empty home is made", at(old, noHint, gone), "Begin", lifecycle.ActFindArchive, lifecycle.CodeWorking, "", ""},
		{"no hint, and an archive all the same", at(old, noHint, gone, answer(lifecycle.Verified)), "Begin", L, lifecycle.CodeAdopted, "", ""},
		{"no hint, and the store is away", at(old, noHint, gone, answer(lifecycle.BucketMissing)), "Begin", L, lifecycle.CodeBucketMissing, "", ""},
		{"no hint, and no Secret says where", at(old, noHint, gone, answer(lifecycle.NotConfigured)), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
		{"no hint, in a new Workspace", at(young, noHint, gone), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
		{"no hint, and a loss was accepted", at(old, noHint, gone, accepted), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
		{"no hint, in an archive that is not configured", at(old, noHint, gone, func(i *in) { i.Workspace.HasStore = false }), "Begin", L, lifecycle.CodeClaimed, lifecycle.Provisioning, ""},
		{"nothing starts on a volume whose home is gone", at(withoutHome, want(R)), "Stalled", L, lifecycle.CodeStalled, "", ""},
		{"but ARCHIVING may look again", at(withoutHome, want(P)), "Stalled", L, lifecycle.CodeRecovered, "", lifecycle.Standby},
		{"W3: a record was lost, the home was not", at(forgotten), "Adopt", L, lifecycle.CodeAdopted, "", ""},
		{"with an archive it is unknown which is newer", at(forgotten, archived), "Adopt", L, lifecycle.CodeVolumeUnknown, "", lifecycle.Failed},
		{"W3: what a volume holds was lost of its record", at(half), "Adopt", L, lifecycle.CodeAdopted, "", ""},
		{"W3: also with an older archive", at(half, archived, func(i *in) { i.Status.Archive.VolumeUID = "earlier" }), "Adopt", L, lifecycle.CodeAdopted, "", ""},
		{"a volume without a marker is not a home", at(forgotten, func(i *in) { i.Observed.Volume.Marker = lifecycle.Marker{} }), "Waste", lifecycle.ActDeleteVolume, lifecycle.CodeVolumeWaste, "", ""},
		{"a stranger's volume is left alone", at(forgotten, want(P), foreignVolume), "Converged", L, lifecycle.CodeConverged, "", ""},
		{"a stranger's Pod is left alone", at(foreignPod), "Converged", L, lifecycle.CodeConverged, "", ""},
		{"a stranger's Pod is in the way", at(inOperation(lifecycle.Starting, 0), want(R), foreignPod), "Attempt", L, lifecycle.CodePodForeign, "", ""},
		{"D7: an earlier Job is deleted first", at(want(R), stray(lifecycle.JobRunning)), "Strays", lifecycle.ActDeleteJob, lifecycle.CodeJobEnding, "", ""},
		{"D7: and is waited for", at(want(R), stray(lifecycle.JobTerminating)), "Strays", L, lifecycle.CodeJobEnding, "", ""},
		{"D7: also while another works", at(inOperation(lifecycle.Archiving, 0), stray(lifecycle.JobRunning), found(lifecycle.Absent, 0)), "Execute", lifecycle.ActDeleteJob, lifecycle.CodeJobEnding, "", ""},
		{"a archivedVolume volume, left over from ERROR", at(archivedVolume, leftover, want(P)), "Waste", lifecycle.ActVerify, lifecycle.CodeWorking, "", ""},
		{"deleted, if its archive is good", at(archivedVolume, leftover, want(P), found(lifecycle.Verified, 3)), "Waste", lifecycle.ActDeleteVolume, lifecycle.CodeVolumeWaste, "", ""},
		{"is the home again, if not", at(archivedVolume, leftover, want(P), found(lifecycle.Corrupt, 3)), "Waste", L, lifecycle.CodeVolumeReprieved, "", ""},
		{"kept, if that is unknown", at(archivedVolume, leftover, want(P), found(lifecycle.BucketMissing, 0)), "Waste", L, lifecycle.CodeBucketMissing, "", ""},
		{"a Pod on a archivedVolume volume", at(inOperation(lifecycle.Archiving, 0), archivedVolume, inPod(lifecycle.PodReady)), "Execute", L, lifecycle.CodeVolumeReprieved, "", ""},
		{"a Pod while something may be uploaded", at(inOperation(lifecycle.Archiving, 0), moving(lifecycle.JobRunning), inPod(lifecycle.PodNotReady)), "Execute", L, lifecycle.CodeVolumeInUse, "", ""},
		{"a Pod before anything was", at(inOperation(lifecycle.Archiving, 0), inPod(lifecycle.PodNotReady)), "Execute", lifecycle.ActDeletePod, lifecycle.CodeWorking, "", ""},
		{"the upload was complete when a user deleted the volume", at(inOperation(lifecycle.Archiving, 0), volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Verified, 3)), "Attempt", L, lifecycle.CodeArchiveReady, "", ""},
		{"an upload under way saves a dying volume", at(inOperation(lifecycle.Archiving, 0), moving(lifecycle.JobRunning), volumeIs(lifecycle.VolumeTerminating)), "Execute", L, lifecycle.CodeWorking, "", ""},
		{"nor is it cancelled", at(inOperation(lifecycle.Archiving, 0), moving(lifecycle.JobRunning), want(R), volumeIs(lifecycle.VolumeTerminating)), "Execute", L, lifecycle.CodeWorking, "", ""},
		{"D18: a second manager made the Job once more", at(inOperation(lifecycle.Archiving, 0), archivedVolume, moving(lifecycle.JobSucceeded), volumeIs(lifecycle.VolumeTerminating)), "Execute", lifecycle.ActDeleteJob, lifecycle.CodeJobEnding, "", ""},
		{"a Job that says more than the store", at(inOperation(lifecycle.Archiving, 0), moving(lifecycle.JobSucceeded), found(lifecycle.Absent, 0)), "Execute", L, lifecycle.CodeArchiveLost, "", ""},
		{"an archive that is gone", at(unrecorded, restoring, func(i *in) { i.Archive = lifecycle.ArchiveView{Key: i.Status.ArchiveKey, Verdict: lifecycle.Absent} }), "Execute", L, lifecycle.CodeArchiveLost, "", ""},
		{"D1: the Job's success is marked on the volume", at(unrecorded, restoring, moving(lifecycle.JobSucceeded)), "Execute", lifecycle.ActMarkVolume, lifecycle.CodeWorking, "", ""},
		{"D1: the Job is deleted before the operation ends", at(unrecorded, restoring, moving(lifecycle.JobSucceeded), restored), "Execute", lifecycle.ActDeleteJob, lifecycle.CodeJobEnding, "", ""},
		{"D1: and then it ends", at(unrecorded, restoring, restored), "Complete", L, lifecycle.CodeFinished, none, lifecycle.Standby},
		{"D1: a marker of an earlier restore", at(unrecorded, restoring, restored, func(i *in) { i.Observed.Volume.Marker.OperationID = "earlier" }), "Execute", lifecycle.ActVerify, lifecycle.CodeWorking, "", ""},
		{"deletion, Retain", at(deleting(lifecycle.RetainHome), removing), "Deleting", lifecycle.ActReleaseVolume, lifecycle.CodeDeleting, "", ""},
		{"Retain: only the Pod keeps a volume that a user deletes", at(deleting(lifecycle.RetainHome), removing, inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeTerminating)), "Deleting", L, lifecycle.CodeVolumeTerminating, "", ""},
		{"also one that is not recorded", at(forgotten, deleting(lifecycle.RetainHome), removing, inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeTerminating)), "Deleting", L, lifecycle.CodeVolumeTerminating, "", ""},
		{"deletion leaves a stranger's volume", at(deleting(lifecycle.DeleteHome), removing, foreignVolume), "Deleting", lifecycle.ActRemoveFinalizer, lifecycle.CodeDeleting, "", ""},
		{"deletion never gives up", at(deleting(lifecycle.DeleteHome), removing, func(i *in) { i.Now = noon.Add(time.Hour) }), "Deleting", lifecycle.ActDeleteVolume, lifecycle.CodeDeletionSlow, "", ""},
		{"deletion first archives", at(deleting(lifecycle.ArchiveHome)), "Begin", L, lifecycle.CodeClaimed, lifecycle.Archiving, ""},
		{"deletion without a store waits for one", at(deleting(lifecycle.ArchiveHome), func(i *in) { i.Workspace.HasStore = false }), "Begin", L, lifecycle.CodeArchiveNotConfigured, "", ""},
		{"D24: not where nothing can be made", at(deleting(lifecycle.ArchiveHome), func(i *in) { i.Workspace.NamespaceTerminating = true }), "Delete", L, lifecycle.CodeDeletionUnarchived, lifecycle.Removing, lifecycle.Deleting},
		{"deletion is done", at(deleting(lifecycle.DeleteHome), func(i *in) { i.Workspace.Finalizer = false }), "Delete", L, lifecycle.CodeDeleted, "", ""},
		{"no look at Pods, no upload", at(inOperation(lifecycle.Archiving, 0), found(lifecycle.Absent, 0), func(i *in) { i.Observed.PodsLive = false }), "Execute", lifecycle.ActReadPods, lifecycle.CodeWorking, "", ""},
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
