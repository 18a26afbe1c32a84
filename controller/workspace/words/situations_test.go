package words_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/words"
	"kyklos.io/kyklos/internal/lifecycle"
)

func finish(to lifecycle.State) func(*lifecycle.Status) {
	return func(s *lifecycle.Status) { s.Phase, s.Operation = to, lifecycle.Claim{Type: lifecycle.None} }
}

func claim(operation lifecycle.Operation) func(*lifecycle.Status) {
	return func(s *lifecycle.Status) { s.Operation = status("", operation).Operation }
}

func desire(state v1alpha1.DesiredState) func(*v1alpha1.Workspace) {
	return func(ws *v1alpha1.Workspace) { ws.Spec.DesiredState = state }
}

func deleted(policy v1alpha1.DeletionPolicy) func(*v1alpha1.Workspace) {
	return func(ws *v1alpha1.Workspace) {
		ws.DeletionTimestamp, ws.Spec.DeletionPolicy = ptr.To(metav1.NewTime(eight)), policy
	}
}

// situations are what people meet, in an order in which they could.
func situations() []situation {
	none := lifecycle.None
	standby, running, empty := status(lifecycle.Standby, none), status(lifecycle.Running, none), lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Claim{Type: none}}
	provisioning, starting := status(lifecycle.Pending, lifecycle.Provisioning), status(lifecycle.Standby, lifecycle.Starting)
	archiving, restoring := status(lifecycle.Standby, lifecycle.Archiving), archived(status(lifecycle.Pending, lifecycle.Restoring))
	home := lifecycle.VolumeView{State: lifecycle.VolumeBound, UID: volumeUID}
	dying := home
	dying.State = lifecycle.VolumeTerminating
	return append([]situation{
		{name: "new", before: empty, word: lifecycle.WordClaimed, after: claim(lifecycle.Provisioning)},
		{name: "the storage class waits", before: provisioning, word: lifecycle.WordVolumePending},
		{name: "the volume is there", before: provisioning, word: lifecycle.WordFinished, after: finish(lifecycle.Standby)},
		{name: "starting", before: standby, word: lifecycle.WordClaimed, after: claim(lifecycle.Starting)},
		{name: "the Pod is not ready yet", before: starting, word: lifecycle.WordPodNotReady},
		{name: "started", before: starting, word: lifecycle.WordFinished, after: finish(lifecycle.Running), ready: true},
		{name: "running", before: running, word: lifecycle.WordConverged, ready: true},
		{name: "killed (W36)", before: running, word: lifecycle.WordObserved, after: func(s *lifecycle.Status) {
			s.Phase, s.Restarts, s.NextStartAt = lifecycle.Standby, 1, eight.Add(10*time.Second)
		}},
		{name: "killed again and again", before: func() lifecycle.Status {
			s := standby
			s.Restarts, s.NextStartAt = 4, eight.Add(80*time.Second)
			return s
		}(), word: lifecycle.WordRestartBackoff},
		{name: "the owner has two", before: standby, word: lifecycle.WordOwnerLimit, alter: func(ws *v1alpha1.Workspace) { ws.Spec.Owner = "ann@example.com" },
			running: fellows("shop/ann", "team/bea")},
		{name: "all have a hundred", before: standby, word: lifecycle.WordAllLimit},
		{name: "paused", before: standby, word: lifecycle.WordPaused},
		{name: "stopping", before: running, word: lifecycle.WordClaimed, after: claim(lifecycle.Stopping), alter: desire(v1alpha1.DesiredStandby)},
		{name: "the Pod is ending", before: status(lifecycle.Running, lifecycle.Stopping), word: lifecycle.WordPodGone, alter: desire(v1alpha1.DesiredStandby)},
		{name: "no store", before: standby, word: lifecycle.WordArchiveNotConfigured, alter: func(ws *v1alpha1.Workspace) {
			ws.Spec.Archive, ws.Spec.DesiredState = nil, v1alpha1.DesiredPending
		}},
		{name: "no mover is free", before: standby, word: lifecycle.WordMoversFull, alter: desire(v1alpha1.DesiredPending)},
		{name: "archived", before: archived(archiving), word: lifecycle.WordFinished, after: finish(lifecycle.Pending), ready: true, alter: desire(v1alpha1.DesiredPending)},
		{name: "archiving is cancelled", before: archiving, word: lifecycle.WordCancelled, after: finish(lifecycle.Standby)},
		{name: "somebody uses the volume", before: archiving, word: lifecycle.WordVolumeInUse, alter: desire(v1alpha1.DesiredPending)},
		{name: "restored", before: restoring, word: lifecycle.WordFinished, after: finish(lifecycle.Standby)},
		{name: "unreadable", before: running, word: lifecycle.WordObservationFailed},
		{name: "deleting", before: running, word: lifecycle.WordClaimed, after: claim(lifecycle.Removing), alter: deleted(v1alpha1.DeletionRetain)},
		{name: "deleting what is in the archive", before: func() lifecycle.Status {
			s := archived(status(lifecycle.Pending, none))
			s.Volume = lifecycle.Volume{}
			return s
		}(), word: lifecycle.WordClaimed, after: claim(lifecycle.Removing), alter: deleted(v1alpha1.DeletionRetain)},
		{name: "deleting, archive first", before: archiving, word: lifecycle.WordDeleting, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting in a namespace that goes", before: running, word: lifecycle.WordDeletionUnarchived, after: claim(lifecycle.Removing), alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting what is elsewhere", before: func() lifecycle.Status {
			s := archived(status(lifecycle.Deleting, lifecycle.Removing))
			s.Volume = lifecycle.Volume{}
			return s
		}(), word: lifecycle.WordArchiveElsewhere, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting takes long", before: status(lifecycle.Deleting, lifecycle.Removing), word: lifecycle.WordDeletionSlow, alter: deleted(v1alpha1.DeletionDelete)},
		{name: "somebody deletes the home", before: running, word: lifecycle.WordVolumeTerminating, seen: lifecycle.Observation{Volume: dying}},
	}, troubles(home)...)
}

// troubles are failures, with another attempt and without.
func troubles(home lifecycle.VolumeView) []situation {
	none := lifecycle.None
	standby, running, starting := status(lifecycle.Standby, none), status(lifecycle.Running, none), status(lifecycle.Standby, lifecycle.Starting)
	archiving, restoring := status(lifecycle.Standby, lifecycle.Archiving), archived(status(lifecycle.Pending, lifecycle.Restoring))
	provisioning := lifecycle.Status{Phase: lifecycle.Pending, Operation: status("", lifecycle.Provisioning).Operation}
	seen := lifecycle.Observation{Volume: home}
	disk := words.Detail{Text: "write /volume/home/x: no space left on device", Code: "DISK_FULL", ExitCode: ptr.To(int32(11))}
	return []situation{
		{name: "the volume is too small", before: restoring, word: lifecycle.WordJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.WordJobFailed), detail: disk},
		{name: "a file cannot be read", before: archiving, word: lifecycle.WordJobFailed, after: stalled(lifecycle.ActionFailed, lifecycle.WordJobFailed),
			detail: words.Detail{Text: "open secret: permission denied", Code: "HOME_UNREADABLE", ExitCode: ptr.To(int32(11))}},
		{name: "waiting to try again", before: func() lifecycle.Status {
			s := archiving
			failed(lifecycle.ActionFailed, lifecycle.WordJobFailed)(&s)
			return s
		}(), word: lifecycle.WordRetrying},
		{name: "the mover was killed", before: archiving, word: lifecycle.WordJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.WordJobFailed), detail: words.Detail{ExitCode: ptr.To(int32(137))}},
		{name: "the start takes too long", before: starting, word: lifecycle.WordTimedOut, after: failed(lifecycle.Timeout, lifecycle.WordTimedOut)},
		{name: "the start took too long", before: starting, word: lifecycle.WordTimedOut, after: stalled(lifecycle.Timeout, lifecycle.WordTimedOut)},
		{name: "the container ends", before: starting, word: lifecycle.WordPodEnded, after: failed(lifecycle.ActionFailed, lifecycle.WordPodEnded),
			detail: words.Detail{Text: "Error: exec: ide: not found", ExitCode: ptr.To(int32(127))}},
		{name: "a quota", before: starting, word: lifecycle.WordRefused, after: failed(lifecycle.ActionFailed, lifecycle.WordRefused),
			detail: words.Detail{Text: `pods "ws-ann" is forbidden: exceeded quota: team`, StatusCode: 403}},
		{name: "a stranger's Pod", before: starting, word: lifecycle.WordPodForeign, after: failed(lifecycle.Mismatch, lifecycle.WordPodForeign),
			seen: lifecycle.Observation{Pod: lifecycle.Pod{State: lifecycle.PodReady, Foreign: true, UID: "p9"}}},
		{name: "a stranger's volume", before: provisioning, word: lifecycle.WordVolumeForeign, after: failed(lifecycle.Mismatch, lifecycle.WordVolumeForeign),
			seen: lifecycle.Observation{Volume: lifecycle.VolumeView{State: lifecycle.VolumeBound, Foreign: true, UID: "v9"}}},
		{name: "two homes", before: archived(standby), word: lifecycle.WordVolumeUnknown, after: stalled(lifecycle.Mismatch, lifecycle.WordVolumeUnknown), seen: seen},
		{name: "a home that is not recorded", before: provisioning, word: lifecycle.WordVolumeUnknown, after: stalled(lifecycle.Mismatch, lifecycle.WordVolumeUnknown), seen: seen},
		{name: "the store is away", before: archiving, word: lifecycle.WordStoreUnreachable, after: failed(lifecycle.Unreachable, lifecycle.WordStoreUnreachable),
			detail: words.Detail{Text: "dial tcp 10.0.0.1:443: connect: connection refused"}},
		{name: "the store stays away", before: archiving, word: lifecycle.WordStoreUnreachable, after: stalled(lifecycle.Unreachable, lifecycle.WordStoreUnreachable)},
		{name: "the bucket is missing", before: restoring, word: lifecycle.WordBucketMissing, after: failed(lifecycle.Unreachable, lifecycle.WordBucketMissing)},
		{name: "the archive is elsewhere", before: restoring, word: lifecycle.WordArchiveElsewhere, after: failed(lifecycle.Unreachable, lifecycle.WordArchiveElsewhere),
			detail: words.Detail{Text: archiveKey + ".meta: the object does not exist"}},
		{name: "the archive stays elsewhere", before: restoring, word: lifecycle.WordArchiveElsewhere, after: stalled(lifecycle.Unreachable, lifecycle.WordArchiveElsewhere)},
		{name: "the volume is lost", before: running, word: lifecycle.WordVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.WordVolumeLost)},
		{name: "the volume is lost beside an archive", before: archived(standby), word: lifecycle.WordVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.WordVolumeLost)},
		{name: "the folder is lost", before: archiving, word: lifecycle.WordVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.WordVolumeLost), seen: seen},
		{name: "the archive is lost", before: restoring, word: lifecycle.WordArchiveLost, after: stalled(lifecycle.DataLost, lifecycle.WordArchiveLost)},
		{name: "the archive is corrupt", before: restoring, word: lifecycle.WordArchiveCorrupt, after: stalled(lifecycle.DataLost, lifecycle.WordArchiveCorrupt)},
		{name: "deleting while the store is away", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), word: lifecycle.WordStoreUnreachable, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting what is lost", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), word: lifecycle.WordArchiveLost, after: func(s *lifecycle.Status) {
			s.Error = lifecycle.Failure{Reason: lifecycle.DataLost, Operation: lifecycle.Removing, Word: lifecycle.WordArchiveLost, OccurredAt: eight}
		}, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "what was uploaded is not the home", before: archiving, word: lifecycle.WordArchiveCorrupt, after: failed(lifecycle.Mismatch, lifecycle.WordArchiveCorrupt), seen: seen},
		{name: "an unrecorded home", before: lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Claim{Type: none}}, word: lifecycle.WordAdopted,
			after: func(s *lifecycle.Status) { s.Volume = standby.Volume }, seen: seen},
		{name: "an unrecorded archive", before: lifecycle.Status{}, word: lifecycle.WordAdopted,
			after: func(s *lifecycle.Status) {
				*s = archived(lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Claim{Type: none}})
			}},
		{name: "the loss is accepted", before: standby, word: lifecycle.WordLossAccepted, after: func(s *lifecycle.Status) { s.Volume = lifecycle.Volume{} },
			alter: func(ws *v1alpha1.Workspace) {
				ws.Annotations = map[string]string{"kyklos.io/accept-data-loss": volumeUID}
			}},
		{name: "an edited status", before: standby, word: lifecycle.WordObserved, after: finish(lifecycle.Pending),
			alter: func(ws *v1alpha1.Workspace) { ws.Status.Phase = "ASLEEP" }},
	}
}
