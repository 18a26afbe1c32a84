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

func startedOperation(operation lifecycle.OperationType) func(*lifecycle.Status) {
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

func lostInDeletion(s *lifecycle.Status) {
	s.Error = lifecycle.Failure{Reason: lifecycle.DataLost, Operation: lifecycle.Removing, Code: lifecycle.CodeArchiveLost, OccurredAt: eight}
}

// situations are decisions in the order of a life.
func situations() []situation {
	none := lifecycle.None
	standby, running, empty := status(lifecycle.Standby, none), status(lifecycle.Running, none), lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: none}}
	provisioning, starting := status(lifecycle.Pending, lifecycle.Provisioning), status(lifecycle.Standby, lifecycle.Starting)
	archiving, restoring := status(lifecycle.Standby, lifecycle.Archiving), archived(status(lifecycle.Pending, lifecycle.Restoring))
	home := lifecycle.VolumeView{State: lifecycle.VolumeBound, UID: volumeUID}
	dying := home
	dying.State = lifecycle.VolumeTerminating
	return append([]situation{
		{name: "new", before: empty, code: lifecycle.CodeClaimed, after: startedOperation(lifecycle.Provisioning)},
		{name: "new, and the store is away", before: lifecycle.Status{}, code: lifecycle.CodeStoreUnreachable,
			cause: "archives/named/team/ann/: the store refuses access: AccessDenied: Access Denied"},
		{name: "the newest kept archive is lost", before: lifecycle.Status{}, code: lifecycle.CodeKeptArchiveLost},
		{name: "the storage class waits", before: provisioning, code: lifecycle.CodeVolumePending},
		{name: "the volume is there", before: provisioning, code: lifecycle.CodeFinished, after: finish(lifecycle.Standby)},
		{name: "starting", before: standby, code: lifecycle.CodeClaimed, after: startedOperation(lifecycle.Starting)},
		{name: "the Pod is not ready yet", before: starting, code: lifecycle.CodePodNotReady},
		{name: "started", before: starting, code: lifecycle.CodeFinished, after: finish(lifecycle.Running), ready: true},
		{name: "running", before: running, code: lifecycle.CodeConverged, ready: true},
		{name: "killed (W36)", before: running, code: lifecycle.CodeObserved, after: func(s *lifecycle.Status) {
			s.Phase, s.Restarts, s.NextStartAt = lifecycle.Standby, 1, eight.Add(10*time.Second)
		}},
		{name: "killed again and again", before: func() lifecycle.Status {
			s := standby
			s.Restarts, s.NextStartAt = 4, eight.Add(80*time.Second)
			return s
		}(), code: lifecycle.CodeRestartBackoff},
		{name: "the owner has two", before: standby, code: lifecycle.CodeOwnerLimit, alter: func(ws *v1alpha1.Workspace) { ws.Spec.Owner = "ann@example.com" },
			running: []string{"bea"}},
		{name: "the namespace has twenty", before: standby, code: lifecycle.CodeNamespaceLimit},
		{name: "all have a hundred", before: standby, code: lifecycle.CodeAllLimit},
		{name: "paused", before: standby, code: lifecycle.CodePaused},
		{name: "stopping", before: running, code: lifecycle.CodeClaimed, after: startedOperation(lifecycle.Stopping), alter: desire(v1alpha1.DesiredStandby)},
		{name: "the Pod is ending", before: status(lifecycle.Running, lifecycle.Stopping), code: lifecycle.CodePodGone, alter: desire(v1alpha1.DesiredStandby)},
		{name: "no store", before: standby, code: lifecycle.CodeArchiveNotConfigured, alter: func(ws *v1alpha1.Workspace) {
			ws.Spec.Archive, ws.Spec.DesiredState = nil, v1alpha1.DesiredPending
		}},
		{name: "no mover is free", before: standby, code: lifecycle.CodeMoversFull, alter: desire(v1alpha1.DesiredPending)},
		{name: "archived", before: archived(archiving), code: lifecycle.CodeFinished, after: finish(lifecycle.Pending), ready: true, alter: desire(v1alpha1.DesiredPending)},
		{name: "archiving is cancelled", before: archiving, code: lifecycle.CodeCancelled, after: finish(lifecycle.Standby)},
		{name: "somebody uses the volume", before: archiving, code: lifecycle.CodeVolumeInUse, alter: desire(v1alpha1.DesiredPending)},
		{name: "restored", before: restoring, code: lifecycle.CodeFinished, after: finish(lifecycle.Standby)},
		{name: "applied again", before: lifecycle.Status{}, code: lifecycle.CodeArchiveFound, after: func(s *lifecycle.Status) { *s = archived(empty) }},
		{name: "a clone", before: lifecycle.Status{}, code: lifecycle.CodeArchiveFound, after: func(s *lifecycle.Status) { *s = archived(empty) },
			alter: func(ws *v1alpha1.Workspace) { ws.Spec.RestoreFrom = archiveKey }},
		{name: "a clone of nothing", before: lifecycle.Status{}, code: lifecycle.CodeArchiveNotFound, alter: func(ws *v1alpha1.Workspace) { ws.Spec.RestoreFrom = archiveKey }},
		{name: "there is no latest", before: lifecycle.Status{}, code: lifecycle.CodeArchiveNotFound, alter: func(ws *v1alpha1.Workspace) { ws.Spec.RestoreFrom = "latest" }},
		{name: "a clone of a stranger", before: lifecycle.Status{}, code: lifecycle.CodeArchiveForeign, alter: func(ws *v1alpha1.Workspace) { ws.Spec.RestoreFrom = archiveKey }},
		{name: "unreadable", before: running, code: lifecycle.CodeObservationFailed},
		{name: "deleting", before: running, code: lifecycle.CodeClaimed, after: startedOperation(lifecycle.Removing), alter: deleted(v1alpha1.DeletionRetain)},
		{name: "deleting what is in the archive", before: func() lifecycle.Status {
			s := archived(status(lifecycle.Pending, none))
			s.Volume = lifecycle.Volume{}
			return s
		}(), code: lifecycle.CodeClaimed, after: startedOperation(lifecycle.Removing), alter: deleted(v1alpha1.DeletionRetain)},
		{name: "deleting, archive first", before: archiving, code: lifecycle.CodeDeleting, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting in a namespace that goes", before: running, code: lifecycle.CodeDeletionUnarchived, after: startedOperation(lifecycle.Removing), alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting what is elsewhere", before: func() lifecycle.Status {
			s := archived(status(lifecycle.Deleting, lifecycle.Removing))
			s.Volume = lifecycle.Volume{}
			return s
		}(), code: lifecycle.CodeArchiveElsewhere, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting takes long", before: status(lifecycle.Deleting, lifecycle.Removing), code: lifecycle.CodeDeletionSlow, alter: deleted(v1alpha1.DeletionDelete)},
		{name: "somebody deletes the home", before: running, code: lifecycle.CodeVolumeTerminating, seen: lifecycle.Observation{Volume: dying}},
	}, append(troubles(home), limited()...)...)
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
		{name: "the volume is too small", before: restoring, code: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed), detail: disk},
		{name: "a file cannot be read", before: archiving, code: lifecycle.CodeHomeUnreadable, after: failed(lifecycle.ActionFailed, lifecycle.CodeHomeUnreadable),
			detail: message.Detail{Text: `permission denied to read 1 file, 1 folder ("src/.cache": folder of user 0, mode 0700, "token": file of user 1000, mode 0000)`, Code: "HOME_UNREADABLE", ExitCode: ptr.To(int32(11))}},
		{name: "no identity", before: restoring, code: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed),
			detail: message.Detail{Text: "no identity opens the archive: it is for age:0123456789abcdef; there is no identity", Code: "IDENTITY_MISSING", ExitCode: ptr.To(int32(11))}},
		{name: "a file can still not be read", before: archiving, code: lifecycle.CodeHomeUnreadable, after: stalled(lifecycle.ActionFailed, lifecycle.CodeHomeUnreadable)},
		{name: "waiting to try again", before: func() lifecycle.Status {
			s := archiving
			failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed)(&s)
			return s
		}(), code: lifecycle.CodeRetrying},
		{name: "the mover was killed", before: archiving, code: lifecycle.CodeJobFailed, after: failed(lifecycle.ActionFailed, lifecycle.CodeJobFailed), detail: message.Detail{ExitCode: ptr.To(int32(137))}},
		{name: "the start takes too long", before: starting, code: lifecycle.CodeTimedOut, after: failed(lifecycle.Timeout, lifecycle.CodeTimedOut)},
		{name: "the start took too long", before: starting, code: lifecycle.CodeTimedOut, after: stalled(lifecycle.Timeout, lifecycle.CodeTimedOut)},
		{name: "the container ends", before: starting, code: lifecycle.CodePodEnded, after: failed(lifecycle.ActionFailed, lifecycle.CodePodEnded),
			detail: message.Detail{Text: "Error: exec: ide: not found", ExitCode: ptr.To(int32(127))}},
		{name: "a quota", before: starting, code: lifecycle.CodeRefused, after: failed(lifecycle.ActionFailed, lifecycle.CodeRefused),
			detail: message.Detail{Text: `pods "ws-ann" is forbidden: exceeded quota: team`, StatusCode: 403}},
		{name: "a LimitRange", before: archiving, code: lifecycle.CodeFailedCreate, after: failed(lifecycle.ActionFailed, lifecycle.CodeFailedCreate),
			detail: message.Detail{Text: `pods "ws-ann-" is forbidden: maximum cpu usage per Container is 2, but limit is 4`, StatusCode: 403}},
		{name: "a LimitRange that stays", before: archiving, code: lifecycle.CodeFailedCreate, after: stalled(lifecycle.ActionFailed, lifecycle.CodeFailedCreate)},
		{name: "a stranger's Pod", before: starting, code: lifecycle.CodePodForeign, after: failed(lifecycle.Mismatch, lifecycle.CodePodForeign),
			seen: lifecycle.Observation{Pod: lifecycle.Pod{State: lifecycle.PodReady, Foreign: true, UID: "p9"}}},
		{name: "a stranger's volume", before: provisioning, code: lifecycle.CodeVolumeForeign, after: failed(lifecycle.Mismatch, lifecycle.CodeVolumeForeign),
			seen: lifecycle.Observation{Volume: lifecycle.VolumeView{State: lifecycle.VolumeBound, Foreign: true, UID: "v9"}}},
		{name: "two homes", before: archived(standby), code: lifecycle.CodeVolumeUnknown, after: stalled(lifecycle.Mismatch, lifecycle.CodeVolumeUnknown), seen: seen},
		{name: "a home that is not recorded", before: provisioning, code: lifecycle.CodeVolumeUnknown, after: stalled(lifecycle.Mismatch, lifecycle.CodeVolumeUnknown), seen: seen},
		{name: "the store is away", before: archiving, code: lifecycle.CodeStoreUnreachable, after: failed(lifecycle.Unreachable, lifecycle.CodeStoreUnreachable),
			detail: message.Detail{Text: "dial tcp 10.0.0.1:443: connect: connection refused"}},
		{name: "the store stays away", before: archiving, code: lifecycle.CodeStoreUnreachable, after: stalled(lifecycle.Unreachable, lifecycle.CodeStoreUnreachable)},
		{name: "the bucket is missing", before: restoring, code: lifecycle.CodeBucketMissing, after: failed(lifecycle.Unreachable, lifecycle.CodeBucketMissing)},
		{name: "the archive is elsewhere", before: restoring, code: lifecycle.CodeArchiveElsewhere, after: failed(lifecycle.Unreachable, lifecycle.CodeArchiveElsewhere),
			detail: message.Detail{Text: archiveKey + ".meta: the object does not exist"}},
		{name: "the archive stays elsewhere", before: restoring, code: lifecycle.CodeArchiveElsewhere, after: stalled(lifecycle.Unreachable, lifecycle.CodeArchiveElsewhere)},
		{name: "the volume is lost", before: running, code: lifecycle.CodeVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost)},
		{name: "the volume is lost beside an archive", before: archived(standby), code: lifecycle.CodeVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost)},
		{name: "the folder is lost", before: archiving, code: lifecycle.CodeVolumeLost, after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost), seen: seen},
		{name: "the archive is lost", before: restoring, code: lifecycle.CodeArchiveLost, after: stalled(lifecycle.DataLost, lifecycle.CodeArchiveLost)},
		{name: "the archive is corrupt", before: restoring, code: lifecycle.CodeArchiveCorrupt, after: stalled(lifecycle.DataLost, lifecycle.CodeArchiveCorrupt)},
		{name: "deleting while the store is away", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), code: lifecycle.CodeStoreUnreachable, alter: deleted(v1alpha1.DeletionArchive),
			cause: "dial tcp 10.0.0.1:443: connect: connection refused"},
		{name: "deleting what is lost", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), code: lifecycle.CodeArchiveLost, after: lostInDeletion,
			alter: deleted(v1alpha1.DeletionArchive), held: true, detail: message.Detail{Text: archiveKey + ".meta: the object does not exist"}},
		{name: "deleting what is lost with its namespace", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), code: lifecycle.CodeArchiveLost,
			after: lostInDeletion, alter: deleted(v1alpha1.DeletionArchive)},
		{name: "deleting a home whose older archive is lost", before: archived(status(lifecycle.Deleting, lifecycle.Removing)), code: lifecycle.CodeArchiveLost,
			after: lostInDeletion, alter: deleted(v1alpha1.DeletionRetain)},
		{name: "what was uploaded is not the home", before: archiving, code: lifecycle.CodeArchiveCorrupt, after: failed(lifecycle.Mismatch, lifecycle.CodeArchiveCorrupt), seen: seen},
		{name: "an unrecorded home", before: lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: none}}, code: lifecycle.CodeAdopted,
			after: func(s *lifecycle.Status) { s.Volume = standby.Volume }, seen: seen},
		{name: "an unrecorded archive", before: lifecycle.Status{}, code: lifecycle.CodeAdopted,
			after: func(s *lifecycle.Status) {
				*s = archived(lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: none}})
			}},
		{name: "the loss is accepted", before: standby, code: lifecycle.CodeLossAccepted, after: func(s *lifecycle.Status) { s.Volume = lifecycle.Volume{} },
			alter: func(ws *v1alpha1.Workspace) {
				ws.Annotations = map[string]string{"kyklos.io/accept-data-loss": volumeUID}
			}},
		{name: "an edited status", before: standby, code: lifecycle.CodeObserved, after: finish(lifecycle.Pending),
			alter: func(ws *v1alpha1.Workspace) { ws.Status.Phase = "ASLEEP" }},
	}
}
