package lifecycle_test

import (
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// verdictCases are the rows of the decision table, and the mistakes that the D rules name.
func verdictCases() []verdictCase {
	const (
		L, P, R, S = lifecycle.ActNone, lifecycle.Pending, lifecycle.Running, lifecycle.Standby
		archiving  = lifecycle.Archiving
		none       = lifecycle.None
		failed     = lifecycle.Failed
	)
	type in = lifecycle.Input
	hour := time.Hour
	full := func(limits lifecycle.Limits) func(*in) { return func(i *in) { i.Limits = limits } }
	lossy := func(i *in) { i.Workspace.AcceptedLoss = "v" }
	return []verdictCase{
		{"W33: converged", at(), "Converged", L, lifecycle.CodeConverged, "", ""},
		{"W33: converged, on a cache", at(cached), "Converged", L, lifecycle.CodeConverged, "", ""},
		{"W45: something could not be read", at(want(R), func(i *in) { i.Observed.Failed = true }), "Unread", L, lifecycle.CodeObservationFailed, "", ""},
		{"no finalizer", at(func(i *in) { i.Workspace.Finalizer = false }), "Protect", lifecycle.ActAddFinalizer, lifecycle.CodeWorking, "", ""},
		{"a cache decides nothing", at(want(R), cached), "Begin", lifecycle.ActReadLive, lifecycle.CodeClaimed, "", ""},
		{"W17: STARTING", at(want(R)), "Begin", L, lifecycle.CodeClaimed, lifecycle.Starting, ""},
		{"limit of the owner", at(want(R), full(lifecycle.Limits{OwnerFull: true})), "Begin", L, lifecycle.CodeOwnerLimit, "", ""},
		{"limit of the namespace", at(want(R), full(lifecycle.Limits{NamespaceFull: true})), "Begin", L, lifecycle.CodeNamespaceLimit, "", ""},
		{"limit of all", at(want(R), full(lifecycle.Limits{AllFull: true})), "Begin", L, lifecycle.CodeAllLimit, "", ""},
		{"D22: the movers' gate", at(want(P), full(lifecycle.Limits{MoversFull: true})), "Begin", L, lifecycle.CodeMoversFull, "", ""},
		{"D22: starts pass the movers' gate", at(want(R), full(lifecycle.Limits{MoversFull: true})), "Begin", L, lifecycle.CodeClaimed, lifecycle.Starting, ""},
		{"no store", at(want(P), func(i *in) { i.Workspace.HasStore = false }), "Begin", L, lifecycle.CodeArchiveNotConfigured, "", ""},
		{"paused", at(want(R), func(i *in) { i.Workspace.Pause = true }), "Pause", L, lifecycle.CodePaused, "", ""},
		{"D1: a volume without content is no home", at(unrecorded, func(i *in) { i.Observed.Volume.OperationID = "earlier" }), "Waste", lifecycle.ActDeleteVolume, lifecycle.CodeVolumeWaste, "", ""},
		{"D1: RESTORING is not complete because of a volume", at(unrecorded, inOperation(lifecycle.Restoring, 0), moving(lifecycle.JobRunning), func(i *in) { i.Status.Volume.UID = "v" }), "Execute", L, lifecycle.CodeWorking, "", ""},
		{"D2: an archive of an earlier epoch", at(inOperation(archiving, 0), found(lifecycle.Verified, 2)), "Execute", L, lifecycle.CodeArchiveCorrupt, "", ""},
		{"D3: a Pod that is not ready still writes", at(want(P), inPod(lifecycle.PodNotReady)), "Stop", L, lifecycle.CodeClaimed, lifecycle.Stopping, ""},
		{"D3: nor is one that ends gone", at(inOperation(lifecycle.Stopping, 0), inPod(lifecycle.PodTerminating)), "Execute", L, lifecycle.CodePodGone, "", ""},
		{"D3: readiness flaps", at(want(R), inPod(lifecycle.PodNotReady), func(i *in) { i.Status.Phase = R }), "Converged", L, lifecycle.CodePodNotReady, "", ""},
		{"D3: a foreign Pod while archiving", at(inOperation(archiving, 0), func(i *in) { i.Observed.OtherPods = 1 }), "Execute", L, lifecycle.CodeVolumeInUse, "", ""},
		{"D4: the store is checked before the volume is deleted", at(inOperation(archiving, 0), archivedVolume), "Execute", lifecycle.ActVerify, lifecycle.CodeWorking, "", ""},
		{"D4: then the volume is deleted", at(inOperation(archiving, 0), archivedVolume, found(lifecycle.Verified, 3)), "Execute", lifecycle.ActDeleteVolume, lifecycle.CodeWorking, "", ""},
		{"D4: or kept", at(inOperation(archiving, 0), archivedVolume, found(lifecycle.Absent, 0)), "Execute", L, lifecycle.CodeVolumeReprieved, "", ""},
		{"D5: the volume went before its archive", at(inOperation(archiving, 0), volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Absent, 0)), "Attempt", L, lifecycle.CodeVolumeLost, "", ""},
		{"D5: the volume and its archive", at(inOperation(archiving, 0), archivedVolume, volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Verified, 3)), "Complete", L, lifecycle.CodeFinished, none, P},
		{"D6: a home is gone", at(volumeIs(lifecycle.VolumeAbsent)), "Lost", L, lifecycle.CodeVolumeLost, none, failed},
		{"D6: a stale cache does not know", at(volumeIs(lifecycle.VolumeAbsent), cached), "Lost", lifecycle.ActReadLive, lifecycle.CodeVolumeLost, "", ""},
		{"D6: the loss is accepted", at(volumeIs(lifecycle.VolumeAbsent), lossy), "Lost", L, lifecycle.CodeLossAccepted, "", ""},
		{"D6: another volume of the name", at(func(i *in) { i.Observed.Volume.UID = "w" }), "Lost", L, lifecycle.CodeVolumeLost, none, failed},
		{"D10: completed while no controller ran", at(inOperation(archiving, 9*hour), archivedVolume, volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Verified, 3)), "Complete", L, lifecycle.CodeFinished, none, P},
		{"D10: the Job ended while no controller ran", at(inOperation(archiving, 9*hour), moving(lifecycle.JobSucceeded)), "Execute", lifecycle.ActVerify, lifecycle.CodeWorking, "", ""},
		{"W49: not done", at(inOperation(archiving, hour), moving(lifecycle.JobRunning)), "Overdue", L, lifecycle.CodeTimedOut, "", ""},
		{"D12: archiving is cancelled", at(inOperation(archiving, 0), moving(lifecycle.JobRunning), want(R)), "Cancel", lifecycle.ActDeleteJob, lifecycle.CodeJobEnding, "", ""},
		{"D12: when the Job is gone", at(inOperation(archiving, 0), want(R)), "Cancel", L, lifecycle.CodeCancelled, none, ""},
		{"D12: not after the point of no return", at(inOperation(archiving, 0), archivedVolume, want(R)), "Execute", lifecycle.ActVerify, lifecycle.CodeWorking, "", ""},
		{"D13: deletion does not wait", at(inOperation(archiving, 0), moving(lifecycle.JobRunning), func(i *in) { i.Workspace.Deleting = true }), "Delete", lifecycle.ActDeleteJob, lifecycle.CodeJobEnding, "", ""},
		{"D16: a crash loop is slowed down", at(want(R), func(i *in) { i.Status.NextStartAt = noon.Add(time.Minute) }), "Begin", L, lifecycle.CodeRestartBackoff, "", ""},
		{"D17: no start on a terminating volume", at(inOperation(lifecycle.Starting, 0), want(R), volumeIs(lifecycle.VolumeTerminating)), "Execute", L, lifecycle.CodeVolumeTerminating, "", ""},
		{"D17: a Pod without a home", at(unrecorded, inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeAbsent)), "Stop", L, lifecycle.CodeClaimed, lifecycle.Stopping, ""},
		{"D18: an ended Job holds the volume", at(inOperation(archiving, 0), moving(lifecycle.JobSucceeded), found(lifecycle.Verified, 3)), "Execute", lifecycle.ActDeleteJob, lifecycle.CodeJobEnding, "", ""},
		{"D18: until its Pods are gone", at(inOperation(archiving, 0), moving(lifecycle.JobTerminating), found(lifecycle.Verified, 3)), "Execute", L, lifecycle.CodeJobEnding, "", ""},
		{"D19: a volume that waits for its Pod", at(unrecorded, inOperation(lifecycle.Provisioning, 0), volumeIs(lifecycle.VolumeWaiting)), "Execute", lifecycle.ActMarkVolume, lifecycle.CodeWorking, "", ""},
		{"D20: a stranger's volume", at(unrecorded, inOperation(lifecycle.Provisioning, 0), func(i *in) { i.Observed.Volume.Foreign = true }), "Attempt", L, lifecycle.CodeVolumeForeign, "", ""},
		{"D23: a bucket that is missing", at(inOperation(archiving, 0), archivedVolume, volumeIs(lifecycle.VolumeAbsent), found(lifecycle.BucketMissing, 0)), "Attempt", L, lifecycle.CodeBucketMissing, "", ""},
		{"D25: a refused action counts", at(inOperation(lifecycle.Starting, 0), want(R), func(i *in) {
			i.Rejected = lifecycle.Rejection{Reason: lifecycle.ActionFailed, Code: lifecycle.CodeRefused}
		}), "Attempt", L, lifecycle.CodeRefused, "", ""},
		{"the home's volume is being deleted under its Pod", at(want(P), inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeTerminating), func(i *in) { i.Status.Phase = R }), "Hold", L, lifecycle.CodeVolumeTerminating, "", ""},
	}
}

// caseMutants are naive engines, each with the row that is about its mistake.
var caseMutants = []struct {
	row    string
	engine engine
}{
	{"D10: completed while no controller ran", seeing(func(in *lifecycle.Input) {
		if claim := in.Status.Operation; in.Now.After(claim.AttemptStartedAt.Add(30 * time.Minute)) {
			in.Rejected = lifecycle.Rejection{Reason: lifecycle.Timeout, Code: lifecycle.CodeTimedOut}
			in.Archive = lifecycle.ArchiveView{}
		}
	})},
	{"D12: archiving is cancelled", seeing(func(in *lifecycle.Input) { in.Workspace.Desired = lifecycle.Pending })},
	{"D12: when the Job is gone", seeing(func(in *lifecycle.Input) { in.Workspace.Desired = lifecycle.Pending })},
	{"D13: deletion does not wait", seeing(func(in *lifecycle.Input) { in.Workspace.Deleting = false })},
	{"D3: readiness flaps", seeing(func(in *lifecycle.Input) { in.Observed.Pod = lifecycle.Pod{} })},
}
