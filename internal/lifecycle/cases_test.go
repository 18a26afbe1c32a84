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
		{"W33: converged", at(), "Converged", L, lifecycle.WordConverged, "", ""},
		{"W33: converged, on a cache", at(cached), "Converged", L, lifecycle.WordConverged, "", ""},
		{"W45: something could not be read", at(want(R), func(i *in) { i.Seen.Failed = true }), "Unseen", L, lifecycle.WordObservationFailed, "", ""},
		{"no finalizer", at(func(i *in) { i.Workspace.Finalizer = false }), "Protect", lifecycle.ActAddFinalizer, lifecycle.WordWorking, "", ""},
		{"a cache decides nothing", at(want(R), cached), "Claim", lifecycle.ActLook, lifecycle.WordClaimed, "", ""},
		{"W17: STARTING", at(want(R)), "Claim", L, lifecycle.WordClaimed, lifecycle.Starting, ""},
		{"limit of the owner", at(want(R), full(lifecycle.Limits{OwnerFull: true})), "Claim", L, lifecycle.WordOwnerLimit, "", ""},
		{"limit of all", at(want(R), full(lifecycle.Limits{AllFull: true})), "Claim", L, lifecycle.WordAllLimit, "", ""},
		{"D22: the movers' gate", at(want(P), full(lifecycle.Limits{MoversFull: true})), "Claim", L, lifecycle.WordMoversFull, "", ""},
		{"D22: starts pass the movers' gate", at(want(R), full(lifecycle.Limits{MoversFull: true})), "Claim", L, lifecycle.WordClaimed, lifecycle.Starting, ""},
		{"no store", at(want(P), func(i *in) { i.Workspace.HasStore = false }), "Claim", L, lifecycle.WordArchiveNotConfigured, "", ""},
		{"paused", at(want(R), func(i *in) { i.Workspace.Pause = true }), "Pause", L, lifecycle.WordPaused, "", ""},
		{"D1: a volume without content is no home", at(unhomed, func(i *in) { i.Seen.Volume.OperationID = "earlier" }), "Waste", lifecycle.ActDeleteVolume, lifecycle.WordVolumeWaste, "", ""},
		{"D1: RESTORING is not complete because of a volume", at(unhomed, claimed(lifecycle.Restoring, 0), moving(lifecycle.JobRunning), func(i *in) { i.Status.Volume.UID = "v" }), "Execute", L, lifecycle.WordWorking, "", ""},
		{"D2: an archive of an earlier epoch", at(claimed(archiving, 0), found(lifecycle.Verified, 2)), "Execute", L, lifecycle.WordArchiveCorrupt, "", ""},
		{"D3: a Pod that is not ready still writes", at(want(P), inPod(lifecycle.PodNotReady)), "Stop", L, lifecycle.WordClaimed, lifecycle.Stopping, ""},
		{"D3: nor is one that ends gone", at(claimed(lifecycle.Stopping, 0), inPod(lifecycle.PodTerminating)), "Execute", L, lifecycle.WordPodGone, "", ""},
		{"D3: readiness flaps", at(want(R), inPod(lifecycle.PodNotReady), func(i *in) { i.Status.Phase = R }), "Converged", L, lifecycle.WordPodNotReady, "", ""},
		{"D3: somebody's Pod while archiving", at(claimed(archiving, 0), func(i *in) { i.Seen.OtherPods = 1 }), "Execute", L, lifecycle.WordVolumeInUse, "", ""},
		{"D4: the store is asked before the volume goes", at(claimed(archiving, 0), condemned), "Execute", lifecycle.ActVerify, lifecycle.WordWorking, "", ""},
		{"D4: and the volume goes", at(claimed(archiving, 0), condemned, found(lifecycle.Verified, 3)), "Execute", lifecycle.ActDeleteVolume, lifecycle.WordWorking, "", ""},
		{"D4: or stays", at(claimed(archiving, 0), condemned, found(lifecycle.Absent, 0)), "Execute", L, lifecycle.WordVolumeReprieved, "", ""},
		{"D5: the volume went before its archive", at(claimed(archiving, 0), volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Absent, 0)), "Attempt", L, lifecycle.WordVolumeLost, "", ""},
		{"D5: the volume and its archive", at(claimed(archiving, 0), condemned, volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Verified, 3)), "Complete", L, lifecycle.WordFinished, none, P},
		{"D6: a home is gone", at(volumeIs(lifecycle.VolumeAbsent)), "Lost", L, lifecycle.WordVolumeLost, none, failed},
		{"D6: a stale cache does not know", at(volumeIs(lifecycle.VolumeAbsent), cached), "Lost", lifecycle.ActLook, lifecycle.WordVolumeLost, "", ""},
		{"D6: the loss is accepted", at(volumeIs(lifecycle.VolumeAbsent), lossy), "Lost", L, lifecycle.WordLossAccepted, "", ""},
		{"D6: another volume of the name", at(func(i *in) { i.Seen.Volume.UID = "w" }), "Lost", L, lifecycle.WordVolumeLost, none, failed},
		{"D10: done while nobody looked", at(claimed(archiving, 9*hour), condemned, volumeIs(lifecycle.VolumeAbsent), found(lifecycle.Verified, 3)), "Complete", L, lifecycle.WordFinished, none, P},
		{"D10: the Job was done while nobody looked", at(claimed(archiving, 9*hour), moving(lifecycle.JobSucceeded)), "Execute", lifecycle.ActVerify, lifecycle.WordWorking, "", ""},
		{"W49: not done", at(claimed(archiving, hour), moving(lifecycle.JobRunning)), "Overdue", L, lifecycle.WordTimedOut, "", ""},
		{"D12: archiving is cancelled", at(claimed(archiving, 0), moving(lifecycle.JobRunning), want(R)), "Cancel", lifecycle.ActDeleteJob, lifecycle.WordJobEnding, "", ""},
		{"D12: when the Job is gone", at(claimed(archiving, 0), want(R)), "Cancel", L, lifecycle.WordCancelled, none, ""},
		{"D12: not after the point of no return", at(claimed(archiving, 0), condemned, want(R)), "Execute", lifecycle.ActVerify, lifecycle.WordWorking, "", ""},
		{"D13: deletion does not wait", at(claimed(archiving, 0), moving(lifecycle.JobRunning), func(i *in) { i.Workspace.Deleting = true }), "Delete", lifecycle.ActDeleteJob, lifecycle.WordJobEnding, "", ""},
		{"D16: a crash loop is slowed down", at(want(R), func(i *in) { i.Status.NextStartAt = noon.Add(time.Minute) }), "Claim", L, lifecycle.WordRestartBackoff, "", ""},
		{"D17: no start on a volume that goes", at(claimed(lifecycle.Starting, 0), want(R), volumeIs(lifecycle.VolumeTerminating)), "Execute", L, lifecycle.WordVolumeTerminating, "", ""},
		{"D17: a Pod without a home", at(unhomed, inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeAbsent)), "Stop", L, lifecycle.WordClaimed, lifecycle.Stopping, ""},
		{"D18: an ended Job holds the volume", at(claimed(archiving, 0), moving(lifecycle.JobSucceeded), found(lifecycle.Verified, 3)), "Execute", lifecycle.ActDeleteJob, lifecycle.WordJobEnding, "", ""},
		{"D18: until its Pods are gone", at(claimed(archiving, 0), moving(lifecycle.JobTerminating), found(lifecycle.Verified, 3)), "Execute", L, lifecycle.WordJobEnding, "", ""},
		{"D19: a volume that waits for its Pod", at(unhomed, claimed(lifecycle.Provisioning, 0), volumeIs(lifecycle.VolumeWaiting)), "Execute", lifecycle.ActMarkVolume, lifecycle.WordWorking, "", ""},
		{"D20: a stranger's volume", at(unhomed, claimed(lifecycle.Provisioning, 0), func(i *in) { i.Seen.Volume.Foreign = true }), "Attempt", L, lifecycle.WordVolumeForeign, "", ""},
		{"D23: a bucket that is missing", at(claimed(archiving, 0), condemned, volumeIs(lifecycle.VolumeAbsent), found(lifecycle.BucketMissing, 0)), "Attempt", L, lifecycle.WordBucketMissing, "", ""},
		{"D25: a refused action counts", at(claimed(lifecycle.Starting, 0), want(R), func(i *in) {
			i.Refused = lifecycle.Refusal{Reason: lifecycle.ActionFailed, Word: lifecycle.WordRefused}
		}), "Attempt", L, lifecycle.WordRefused, "", ""},
		{"the home's volume is being deleted under its Pod", at(want(P), inPod(lifecycle.PodReady), volumeIs(lifecycle.VolumeTerminating), func(i *in) { i.Status.Phase = R }), "Hold", L, lifecycle.WordVolumeTerminating, "", ""},
	}
}

// caseMutants are naive engines, each with the row that is about its mistake.
var caseMutants = []struct {
	row    string
	engine engine
}{
	{"D10: done while nobody looked", seeing(func(in *lifecycle.Input) {
		if claim := in.Status.Operation; in.Now.After(claim.AttemptStartedAt.Add(30 * time.Minute)) {
			in.Refused = lifecycle.Refusal{Reason: lifecycle.Timeout, Word: lifecycle.WordTimedOut}
			in.Archive = lifecycle.ArchiveView{}
		}
	})},
	{"D12: archiving is cancelled", seeing(func(in *lifecycle.Input) { in.Workspace.Desired = lifecycle.Pending })},
	{"D12: when the Job is gone", seeing(func(in *lifecycle.Input) { in.Workspace.Desired = lifecycle.Pending })},
	{"D13: deletion does not wait", seeing(func(in *lifecycle.Input) { in.Workspace.Deleting = false })},
	{"D3: readiness flaps", seeing(func(in *lifecycle.Input) { in.Seen.Pod = lifecycle.Pod{} })},
}
