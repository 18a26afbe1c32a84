package message_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/lifecycle"
)

func finish(to lifecycle.State) func(*lifecycle.Status) {
	return func(s *lifecycle.Status) { s.Phase, s.Operation = to, lifecycle.Operation{Type: lifecycle.None} }
}

func claim(operation lifecycle.OperationType) func(*lifecycle.Status) {
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
	standby, running, empty := status(lifecycle.Standby, none), status(lifecycle.Running, none), lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: none}}
	provisioning, starting := status(lifecycle.Pending, lifecycle.Provisioning), status(lifecycle.Standby, lifecycle.Starting)
	archiving, restoring := status(lifecycle.Standby, lifecycle.Archiving), archived(status(lifecycle.Pending, lifecycle.Restoring))
	home := lifecycle.VolumeView{State: lifecycle.VolumeBound, UID: volumeUID}
	dying := home
	dying.State = lifecycle.VolumeTerminating
	return append([]situation{
		{name: "new", before: empty, word: lifecycle.CodeClaimed, after: claim(lifecycle.Provisioning)},
		{name: "the storage class waits", before: provisioning, word: lifecycle.CodeVolumePending},
		{name: "the volume is there", before: provisioning, word: lifecycle.CodeFinished, after: finish(lifecycle.Standby)},
		{name: "starting", before: standby, word: lifecycle.CodeClaimed, after: claim(lifecycle.Starting)},
		{name: "the Pod is not ready yet", before: starting, word: lifecycle.CodePodNotReady},
		{name: "started", before: starting, word: lifecycle.CodeFinished, after: finish(lifecycle.Running), ready: true},
		{name: "running", before: running, word: lifecycle.CodeConverged, ready: true},
		{name: "killed (W36)", before: running, word: lifecycle.CodeObserved, after: func(s *lifecycle.Status) {
			s.Phase, s.Restarts, s.NextStartAt = lifecycle.Standby, 1, eight.Add(10*time.Second)
		}},
		{name: "killed again and again", before: func() lifecycle.Status {
			s := standby
			s.Restarts, s.NextStartAt = 4, eight.Add(80*time.Second)
			return s
		}(), word: lifecycle.CodeRestartBackoff},
		{name: "the owner has two", before: standby, word: lifecycle.CodeOwnerLimit, alter: func(ws *v1alpha1.Workspace) { ws.Spec.Owner = "ann@example.com" },
			running: fellows("shop/ann", "team/bea")},
		{name: "all have a hundred", before: standby, word: lifecycle.CodeAllLimit},
		{name: "paused", before: standby, word: lifecycle.CodePaused},
		{name: "stopping", before: running, word: lifecycle.CodeClaimed, after: claim(lifecycle.Stopping), alter: desire(v1alpha1.DesiredStandby)},
		{name: "the Pod is ending", before: status(lifecycle.Running, lifecycle.Stopping), word: lifecycle.CodePodGone, alter: desire(v1alpha1.DesiredStandby)},
		{name: "no store", before: standby, word: lifecycle.CodeArchiveNotConfigured, alter: func(ws *v1alpha1.Workspace) {
			ws.Spec.Archive, ws.Spec.DesiredState = nil, v1alpha1.DesiredPending
		}},
		{name: "no mover is free", before: standby, word: lifecycle.CodeMoversFull, alter: desire(v1alpha1.DesiredPending)},
		{name: "archived", before: archived(archiving), word: lifecycle.CodeFinished, after: finish(lifecycle.Pending), ready: true, alter: desire(v1alpha1.DesiredPending)},
		{name: "archiving is cancelled", before: archiving, word: lifecycle.CodeCancelled, after: finish(lifecycle.Standby)},
		{name: "somebody uses the volume", before: archiving, word: lifecycle.CodeVolumeInUse, alter: desire(v1alpha1.DesiredPending)},
		{name: "restored", before: restoring, word: lifecycle.CodeFinished, after: finish(lifecycle.Standby)},
		{name: "unreadable", before: running, word: lifecycle.CodeObservationFailed},
		{name: "deleting", before: running, word: lifecycle.CodeClaimed, after: claim(lifecycle.Removing), alter: deleted(v1alpha1.DeletionRetain)},
		{name: "deleting what is in the archive", before: func() lifecycle.Status {
			s := archived(status(lifecycle.Pending, none))
			s.Volume = lifecycle.Volume{}
			return s
		}(), word: lifecycle.CodeClaimed, after: claim(lifecycle.Removing), alter: deleted(v1alpha1.DeletionRetain)},
		{name: "deleting, archive first", before: archiving, word: lifecycle.CodeDeleting, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting in a namespace that goes", before: running, word: lifecycle.CodeDeletionUnarchived, after: claim(lifecycle.Removing), alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting what is elsewhere", before: func() lifecycle.Status {
			s := archived(status(lifecycle.Deleting, lifecycle.Removing))
			s.Volume = lifecycle.Volume{}
			return s
		}(), word: lifecycle.CodeArchiveElsewhere, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting takes long", before: status(lifecycle.Deleting, lifecycle.Removing), word: lifecycle.CodeDeletionSlow, alter: deleted(v1alpha1.DeletionDelete)},
		{name: "somebody deletes the home", before: running, word: lifecycle.CodeVolumeTerminating, seen: lifecycle.Observation{Volume: dying}},
	}, troubles(home)...)
}

// troubles are failures, with another attempt and without.
func troubles(home lifecycle.VolumeView) []situation {
	none := lifecycle.None
	standby, running, starting := status(lifecycle.Standby, none), status(lifecycle.Running, none), status(lifecycle.Standby, lifecycle.Starting)
	archiving, restoring := status(lifecycle.Standby, lifecycle.Archiving), archived(status(lifecycle.Pending, lifecycle.Restoring))
	provisioning := lifecycle.Status{Phase: lifecycle.Pending, Operation: status("", lifecycle.Provisioning).Operation}
	seen := lifecycle.Observation{Volume: home}
	disk := message.Detail{Text: "write /volume/home/x: no space left on device", Code: "DISK_FULL", ExitCode: ptr.To(int32(11))}
	return []situation{
		{name: "the volume is too small", before: restoring, word: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed), detail: disk},
		{name: "a file cannot be read", before: archiving, word: lifecycle.CodeJobFailed, after: stalled(lifecycle.ActionFailed, lifecycle.CodeJobFailed),
			detail: message.Detail{Text: "open secret: permission denied", Code: "HOME_UNREADABLE", ExitCode: ptr.To(int32(11))}},
		{name: "waiting to try again", before: func() lifecycle.Status {
			s := archiving
			failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed)(&s)
			return s
		}(), word: lifecycle.CodeRetrying},
		{name: "the mover was killed", before: archiving, word: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed), detail: message.Detail{ExitCode: ptr.To(int32(137))}},
		{name: "the start takes too long", before: starting, word: lifecycle.CodeTimedOut, after: failed(lifecycle.Timeout, lifecycle.CodeTimedOut)},
		{name: "the start took too long", before: starting, word: lifecycle.CodeTimedOut, after: stalled(lifecycle.Timeout, lifecycle.CodeTimedOut)},
		{name: "the container ends", before: starting, word: lifecycle.CodePodEnded, after: failed(lifecycle.ActionFailed, lifecycle.CodePodEnded),
			detail: message.Detail{Text: "Error: exec: ide: not found", ExitCode: ptr.To(int32(127))}},
		{name: "a quota", before: starting, word: lifecycle.CodeRefused, after: failed(lifecycle.ActionFailed, lifecycle.CodeRefused),
			detail: message.Detail{Text: `pods "ws-ann" is forbidden: exceeded quota: team`, StatusCode: 403}},
		{name: "a stranger's Pod", before: starting, word: lifecycle.CodePodForeign, after: failed(lifecycle.Mismatch, lifecycle.CodePodForeign),
			seen: lifecycle.Observation{Pod: lifecycle.Pod{State: lifecycle.PodReady, Foreign: true, UID: "p9"}}},
		{name: "a stranger's volume", before: provisioning, word: lifecycle.CodeVolumeForeign, after: failed(lifecycle.Mismatch, lifecycle.CodeVolumeForeign),
			seen: lifecycle.Observation{Volume: lifecycle.VolumeView{State: lifecycle.VolumeBound, Foreign: true, UID: "v9"}}},
		{name: "two homes", before: archived(standby), word: lifecycle.CodeVolumeUnknown, after: stalled(lifecycle.Mismatch, lifecycle.CodeVolumeUnknown), seen: seen},
		{name: "a home that is not recorded", before: provisioning, word: lifecycle.CodeVolumeUnknown, after: stalled(lifecycle.Mismatch, lifecycle.CodeVolumeUnknown), seen: seen},
		{name: "the store is away", before: archiving, word: lifecycle.CodeStoreUnreachable, after: failed(lifecycle.Unreachable, lifecycle.CodeStoreUnreachable),
			detail: message.Detail{Text: "dial tcp 10.0.0.1:443: connect: connection refused"}},
		{name: "the store stays away", before: archiving, word: lifecycle.CodeStoreUnreachable, after: stalled(lifecycle.Unreachable, lifecycle.CodeStoreUnreachable)},
		{name: "the bucket is missing", before: restoring, word: lifecycle.CodeBucketMissing, after: failed(lifecycle.Unreachable, lifecycle.CodeBucketMissing)},
		{name: "the archive is elsewhere", before: restoring, word: lifecycle.CodeArchiveElsewhere, after: failed(lifecycle.Unreachable, lifecycle.CodeArchiveElsewhere),
			detail: message.Detail{Text: archiveKey + ".meta: the object does not exist"}},
		{name: "the archive stays elsewhere", before: restoring, word: lifecycle.CodeArchiveElsewhere, after: stalled(lifecycle.Unreachable, lifecycle.CodeArchiveElsewhere)},
		{name: "the volume is lost", before: running, word: lifecycle.CodeVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost)},
		{name: "the volume is lost beside an archive", before: archived(standby), word: lifecycle.CodeVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost)},
		{name: "the folder is lost", before: archiving, word: lifecycle.CodeVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost), seen: seen},
		{name: "the archive is lost", before: restoring, word: lifecycle.CodeArchiveLost, after: stalled(lifecycle.DataLost, lifecycle.CodeArchiveLost)},
		{name: "the archive is corrupt", before: restoring, word: lifecycle.CodeArchiveCorrupt, after: stalled(lifecycle.DataLost, lifecycle.CodeArchiveCorrupt)},
		{name: "deleting while the store is away", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), word: lifecycle.CodeStoreUnreachable, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting what is lost", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), word: lifecycle.CodeArchiveLost, after: func(s *lifecycle.Status) {
			s.Error = lifecycle.Failure{Reason: lifecycle.DataLost, Operation: lifecycle.Removing, Code: lifecycle.CodeArchiveLost, OccurredAt: eight}
		}, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "what was uploaded is not the home", before: archiving, word: lifecycle.CodeArchiveCorrupt, after: failed(lifecycle.Mismatch, lifecycle.CodeArchiveCorrupt), seen: seen},
		{name: "an unrecorded home", before: lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: none}}, word: lifecycle.CodeAdopted,
			after: func(s *lifecycle.Status) { s.Volume = standby.Volume }, seen: seen},
		{name: "an unrecorded archive", before: lifecycle.Status{}, word: lifecycle.CodeAdopted,
			after: func(s *lifecycle.Status) {
				*s = archived(lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: none}})
			}},
		{name: "the loss is accepted", before: standby, word: lifecycle.CodeLossAccepted, after: func(s *lifecycle.Status) { s.Volume = lifecycle.Volume{} },
			alter: func(ws *v1alpha1.Workspace) {
				ws.Annotations = map[string]string{"kyklos.io/accept-data-loss": volumeUID}
			}},
		{name: "an edited status", before: standby, word: lifecycle.CodeObserved, after: finish(lifecycle.Pending),
			alter: func(ws *v1alpha1.Workspace) { ws.Status.Phase = "ASLEEP" }},
	}
}
