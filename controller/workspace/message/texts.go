package message

import "kyklos.io/kyklos/internal/lifecycle"

// text is the message of a code. Both parts are text/templates over fields.
type text struct {
	// now is what happens and why.
	now string
	// do is what the user can do; empty if nothing.
	do    string
	event when
}

// when is whether a code has an event, and when it is sent; "" is never.
type when string

const (
	// normal and warning events are sent when the status was written because of the code.
	normal  when = "normal"
	warning when = "warning"
	// onChange is a warning that is sent when the code becomes the reason of Progressing.
	onChange when = "onChange"
)

// homeTerminating replaces VolumeTerminating if a user deletes the home.
var homeTerminating = text{
	now:   "Volume {{.Volume}} with the home is being deleted, but not by Kyklos. It exists only as long as a Pod uses it, so Kyklos does not stop the Pod.",
	do:    "Copy the home to another place now. To give it up: " + acceptLoss + ".",
	event: onChange,
}

// archiveAdopted replaces VolumeAdopted if an archive was found.
var archiveAdopted = text{now: "Found archive {{.ArchiveKey}} of this workspace, which was not recorded. It is the home now.", event: normal}

const (
	// outdated follows the message about a Pod that was created from an earlier spec.
	outdated = "It was created from an earlier spec. To apply the changes, set spec.desiredState to STANDBY and then to RUNNING."

	archiveUnknown = "It is unknown whether there is an archive of the home, because its store did not answer."
)

// Commands to paste, and sentences around them.
const (
	describePod    = "To see why: `kubectl describe pod -n {{.Namespace}} {{.Pod}}`."
	describeVolume = "To see why: `kubectl describe pvc -n {{.Namespace}} {{.Volume}}`."
	deleteVolume   = "`kubectl delete pvc -n {{.Namespace}} {{.Volume}}`"
	annotate       = "`kubectl annotate workspace -n {{.Namespace}} {{.Name}} --overwrite kyklos.io/"
	retry          = annotate + "retry=\"$(date +%s)\"`"
	acceptLoss     = annotate + "accept-data-loss={{.Lost}}`"
	giveUpArchive  = annotate + "accept-data-loss={{.ArchiveKey}}`"
	adoptVolume    = annotate + "adopt-volume=$(kubectl get pvc -n {{.Namespace}} {{.Volume}} -o jsonpath={.metadata.uid})`"
	patch          = "`kubectl patch workspace -n {{.Namespace}} "
	beginEmpty     = patch + "{{.Name}} --type=merge -p '{\"spec\":{\"restoreFrom\":\"empty\"}}'`."
	beginOlder     = patch + "{{.Name}} --type=merge -p '{\"spec\":{\"restoreFrom\":\"{{.OlderKey}}\"}}'`."
	whileSearching = "{{if .Searching}} Until then nothing is created, because an archive of an earlier workspace of this name may be there. " +
		"To begin with an empty home: " + beginEmpty + "{{end}}"
	listArchives = "To list the archives: `kyklos workspace archives -n {{.Namespace}} {{.Name}}`. Correct spec.restoreFrom, or begin with an empty home: " + beginEmpty
	deleteNow    = patch + "{{.Name}} --type=merge -p '{\"spec\":{\"deletionPolicy\":\"Delete\"}}'`"
	deleteAnyway = "{{if .Deleting}} To delete the workspace without an archive: " + deleteNow + ".{{end}}"
	moverLog     = "For details while the Job exists: `kubectl logs -n {{.Namespace}} job/{{.Job}}`."

	archiveRemedy = "{{if .Held}}The deletion waits, because spec.deletionPolicy is {{.DeletionPolicy}}, and continues by itself when the archive is back. " +
		"Restore it together with its .meta object, from the bucket's versions or a backup. To delete the workspace without it: " + deleteNow +
		" or accept the loss: " + acceptLoss + "." +
		"{{else if .Removing}}The deletion continues without it, because {{if .VolumeKept}}the home stays on volume {{.Volume}}{{else}}the namespace is being deleted{{end}}." +
		"{{else if .ArchiveIsHome}}Restore it together with its .meta object, from the bucket's versions or a backup. " +
		"If it is really lost, accept the loss to continue with the content of the volume or an empty home: " + acceptLoss + "." +
		"{{else}}The home is still on its volume.{{end}}"
	volumeLost = "{{if .FolderMissing}}Volume {{.Volume}} exists, but its folder home is gone, although the workspace ran on it." +
		"{{else}}Volume {{.Volume}} with the UID {{.VolumeUID}}, which held the home, is gone, replaced or lost. " +
		"Kyklos does not create another one until the loss is accepted.{{end}}"
	volumeRemedy = "{{if .FolderMissing}}Nothing is started on the volume. Restore the folder from a snapshot or a backup and set spec.desiredState to PENDING; then retry: " + retry +
		". If it is really lost, delete the volume too: " + deleteVolume + ". The next message has the command to accept the loss." +
		"{{else}}If you bring the home back as PersistentVolumeClaim {{.Volume}}, from a snapshot or a backup, adopt it: " + adoptVolume + ". If the data is really lost, accept the loss to continue with {{if .ArchiveKey}}archive {{.ArchiveKey}}, which may be older{{else}}an empty home{{end}}: " + acceptLoss + ".{{end}}"
	volumeUnknown = "Volume {{.Volume}} holds a home that is not recorded" +
		"{{if .ArchiveKey}}, and there is also archive {{.ArchiveKey}}. Kyklos cannot know which one is newer and changes neither.{{else}}. Kyklos does not change it.{{end}}"
	chooseVolume = "{{if .ArchiveKey}}Inspect the volume. To keep the archive, copy what you need and delete the volume: " + deleteVolume + ". To keep the volume: " + adoptVolume + "." +
		"{{else}}The next retry uses the volume as the home.{{end}}"
	notConfigured = "{{if .Archived}}The home cannot be restored from archive {{.ArchiveKey}}{{else}}The home cannot be archived and stays on volume {{.Volume}}{{end}}, because spec.archive names no store, or none that can be used."
	converged     = "{{if eq .State \"RUNNING\"}}Pod {{.Pod}} is ready, as desired.{{else if eq .State \"STANDBY\"}}The home is on volume {{.Volume}} and no Pod is running, as desired." +
		"{{else if .Archived}}The home is in archive {{.ArchiveKey}} and has no volume, as desired.{{else}}There is no Pod, volume or archive, as desired.{{end}}"
	doing       = "{{.Doing}}{{if .Removing}}{{.DeletionEffect}}{{end}}."
	stopAnother = "To stop one: " + patch + "{{or .Neighbour \"NAME\"}} --type=merge -p '{\"spec\":{\"desiredState\":\"STANDBY\"}}'`."
)

// texts are the messages of Ready, Progressing and Stalled, of status.error and of events.
var texts = map[lifecycle.Code]text{
	lifecycle.CodeConverged: {now: converged},
	lifecycle.CodeClaimed:   {now: doing},
	lifecycle.CodeWorking:   {now: doing},
	lifecycle.CodeFinished:  {now: "The workspace is in {{.State}}; the desired state is {{.Desired}}."},
	lifecycle.CodeObserved:  {now: "The workspace was observed to be in {{.State}}; the desired state is {{.Desired}}."},
	lifecycle.CodeAdopted:   {now: "Volume {{.Volume}} is marked as this workspace's home and was not recorded. It is the home now.", event: normal},
	lifecycle.CodePaused:    {now: "Kyklos changes nothing while spec.pause is true.", do: "Set it to false to continue."},
	lifecycle.CodeObservationFailed: {event: onChange,
		now: "The Pod, the volume or the Jobs could not be read from the API server. Kyklos changes nothing, and the status may be outdated. It retries every 30 seconds.",
		do:  "If this persists, see the manager's log."},
	lifecycle.CodePodNotReady: {now: "Pod {{.Pod}} is not ready.", do: describePod},
	lifecycle.CodePodGone:     {now: "Pod {{.Pod}} is stopping; its container has {{.Grace}} seconds to exit."},
	lifecycle.CodePodEnded: {event: warning, now: "Pod {{.Pod}} ended instead of running.",
		do: "Check spec.image, command, args and resources."},
	lifecycle.CodePodForeign: {event: warning,
		now: "Pod {{.Pod}} exists but does not belong to this workspace. Kyklos does not touch it and cannot create its own.",
		do:  "If it is not needed, delete it: `kubectl delete pod -n {{.Namespace}} {{.Pod}}`."},
	lifecycle.CodeVolumeAbsent:  {now: "Creating volume {{.Volume}}."},
	lifecycle.CodeVolumePending: {now: "Waiting for the storage class to provision volume {{.Volume}}.", do: describeVolume},
	lifecycle.CodeVolumeTerminating: {now: "Waiting for volume {{.Volume}} to be deleted.",
		do: "If it remains, see which Pods use it: `kubectl describe pvc -n {{.Namespace}} {{.Volume}}`."},
	lifecycle.CodeVolumeForeign: {event: warning,
		now: "PersistentVolumeClaim {{.Volume}} exists but does not belong to this workspace. Kyklos does not touch it and cannot create its own.",
		do: "If it is not needed, delete it: " + deleteVolume + ". {{if .Left}}It is the home of a deleted workspace of this name: to continue with it, adopt it: " +
			"{{else}}If it holds the home, such as from a backup or of an earlier workspace, adopt it: {{end}}" + adoptVolume + "."},
	lifecycle.CodeVolumeUnknown: {event: warning, now: volumeUnknown, do: chooseVolume},
	lifecycle.CodeVolumeInUse: {event: onChange,
		now: "A Pod that does not belong to this workspace uses volume {{.Volume}}. The home is not archived, restored or deleted until it is gone.",
		do:  "To see which: `kubectl describe pvc -n {{.Namespace}} {{.Volume}}`, under Used By."},
	lifecycle.CodeVolumeLost:      {event: warning, now: volumeLost, do: volumeRemedy},
	lifecycle.CodeVolumeWaste:     {now: "Deleting volume {{.Volume}}, which holds no home, or one that is safe in the archive."},
	lifecycle.CodeVolumeReprieved: {event: warning, now: "Volume {{.Volume}} is not deleted and is the home again, because its archive is no longer good or a Pod uses the volume."},
	lifecycle.CodeArchiveLost:     {event: warning, now: "Archive {{.Key}} or its marker is missing in the store.", do: archiveRemedy},
	lifecycle.CodeArchiveCorrupt:  {event: warning, now: "Archive {{.Key}} is corrupt: it does not match its marker or the recorded checksum.", do: archiveRemedy},
	lifecycle.CodeArchiveNotConfigured: {event: onChange, now: notConfigured,
		do: "Set spec.archive.storeRef to a Secret that describes an object store, or correct that Secret."},
	lifecycle.CodeStoreUnreachable: {event: onChange,
		now: "The object store of Secret {{.Secret}} is unreachable or denies access. Archives in it are not considered lost.{{with .Cause}} Cause: {{.}}.{{end}}",
		do:  "Check the address and the credentials in the Secret, and the network." + whileSearching + deleteAnyway},
	lifecycle.CodeBucketMissing: {event: onChange,
		now: "The bucket does not exist in the object store of Secret {{.Secret}}. Archives in it are not considered lost.",
		do:  "Create the bucket, or correct its name in the Secret." + whileSearching + deleteAnyway},
	lifecycle.CodeArchiveFound: {event: normal,
		now: "The home begins with archive {{.ArchiveKey}}{{with .ArchiveStore}} in {{.}}{{end}}, {{.ArchiveSize}}, " +
			"{{if .RestoreFrom}}because spec.restoreFrom is {{.RestoreFrom}}.{{else}}which was kept when a workspace of this name was deleted.{{end}}",
		do: "{{if not .RestoreFrom}}If the home should be empty, delete this workspace and apply it again with spec.restoreFrom: empty.{{end}}"},
	lifecycle.CodeArchiveNotFound: {event: onChange,
		now: "Nothing is created, because spec.restoreFrom is {{.From}}, and {{if eq .From \"latest\"}}no archive was kept of a deleted workspace {{.Name}}" +
			"{{else}}there is no such archive, or it is damaged,{{end}} in the object store of Secret {{.Secret}}{{with .Store}}, {{.}}{{end}}.",
		do: listArchives},
	lifecycle.CodeArchiveForeign: {event: onChange,
		now: "Nothing is created, because spec.restoreFrom is {{.From}}, an archive that was not made in namespace {{.Namespace}}.",
		do:  listArchives},
	lifecycle.CodeKeptArchiveLost: {event: onChange,
		now: "Nothing is created, because archive {{.KeptKey}}, the newest that was kept under this name, is incomplete or damaged in the object store of Secret " +
			"{{.Secret}}{{with .Store}}, {{.}}{{end}}. Neither an older home nor an empty one takes its place by itself.",
		do: "Restore it together with its .meta object, from the bucket's versions or a backup: the workspace then continues. " +
			"{{if .OlderKey}}To begin with the newest complete one before it: " + beginOlder + " {{end}}To begin with an empty home: " + beginEmpty +
			" To list the archives: `kyklos workspace archives -n {{.Namespace}} {{.Name}}`."},
	lifecycle.CodeArchiveElsewhere: {event: onChange,
		now: "Archive {{.ArchiveKey}} was stored in {{.ArchiveStore}}. Secret {{.Secret}} now names {{.Store}}, where the archive is missing or different. It is not considered lost.",
		do:  "Restore the address in the Secret, or copy the folder {{.ArchiveFolder}} to the new store. To give up the archive: " + giveUpArchive + "."},
	lifecycle.CodeJobFailed: {event: warning, now: "{{.Doing}} failed.", do: "{{.Advice}}"},
	lifecycle.CodeHomeUnreadable: {event: warning,
		now: "The home on volume {{.Volume}} is not archived, because its mover, as user {{.User}}, may not read all of it. The volume stays.",
		do:  "{{if not .Deleting}}Set spec.desiredState to RUNNING, and make what is named readable (chmod u+rX) or delete it. {{end}}What belongs to another user needs an administrator of the volume." + deleteAnyway},
	lifecycle.CodeJobEnding: {now: "Waiting for a mover Job and its Pods to be deleted, because they keep the volume in use."},
	lifecycle.CodeTimedOut:  {event: warning, now: "{{.Doing}} exceeded its time limit of {{.Limit}} seconds.", do: "{{.Slow}}"},
	lifecycle.CodeRefused: {event: warning, now: "{{.Doing}} was rejected by the API server, or the spec is invalid.",
		do: "Correct the spec, or the quotas and policies of namespace {{.Namespace}}."},
	lifecycle.CodeFailedCreate: {event: warning, now: "{{.Doing}} needs a mover, and the API server rejects its Pod in namespace {{.Namespace}}.",
		do: "Change the LimitRange, quota or policy of namespace {{.Namespace}}, or the movers' resources with --mover-requests and --mover-limits of the manager."},
	lifecycle.CodeRetrying: {now: "{{.Doing}} failed; attempt {{.Attempt}} begins at {{.RetryAt}}. See status.error."},
	lifecycle.CodeRestartBackoff: {event: onChange,
		now: "The Pod ended {{.Restarts}} times in a row within ten minutes of its start. The next start is at {{.StartAt}}.",
		do:  "A common cause is a memory limit that is too low; see spec.resources."},
	lifecycle.CodeOwnerLimit: {event: onChange,
		now: "Owner {{.Owner}} has reached the limit of {{.Limits.Owner}} running workspaces in namespace {{.Namespace}}{{.OwnersRunning}}. This one starts when another one stops.", do: stopAnother},
	lifecycle.CodeNamespaceLimit: {event: onChange,
		now: "Namespace {{.Namespace}} has reached the limit of {{.Limits.Namespace}} running workspaces. This one starts when another one stops."},
	lifecycle.CodeAllLimit: {event: onChange, now: "The cluster has reached the limit of {{.Limits.All}} running workspaces. This one starts when another one stops."},
	lifecycle.CodeMoversFull: {now: "No mover is free: at most {{.Limits.Movers}} homes are moved at once{{if .Limits.Kept}}, and {{.Limits.Kept}} of these slots are kept for restores{{end}}. " +
		"Restores go first, then the namespaces take turns{{if gt .Limits.Movers 2}}, and each leaves the last slot to others{{end}}."},
	lifecycle.CodeCancelled: {event: normal, now: "{{.Doing}} was cancelled because the desired state is {{.Desired}}. The home is as it was before."},
	lifecycle.CodeStalled:   {now: "The workspace is in ERROR."},
	lifecycle.CodeRecovered: {event: normal, now: "The workspace has left ERROR and continues from the observed state."},
	lifecycle.CodeLossAccepted: {event: warning,
		now: "The loss of {{.Accepted}} was accepted. The workspace continues from the observed state."},
	lifecycle.CodeDeleting: {now: "Deleting the workspace{{.DeletionEffect}}."},
	lifecycle.CodeDeletionSlow: {event: onChange,
		now: "The deletion exceeds the {{.Limit}} seconds of spec.timeouts.deletingSeconds and continues{{.DeletionEffect}}.",
		do:  "To see what is left: `kubectl get pod,pvc,job -n {{.Namespace}} -l kyklos.io/workspace={{.Name}}`."},
	lifecycle.CodeDeletionUnarchived: {event: warning,
		now: "The home is deleted without an archive, although spec.deletionPolicy is ArchiveThenDelete, because no Job can be created in a namespace that is being deleted."},
	lifecycle.CodeDeleted:      {now: "All objects of the workspace are deleted."},
	lifecycle.CodeArchiveReady: {now: "Archive {{.Key}} is verified and recorded. The volume is deleted next."},
	lifecycle.CodeNoArchive:    {now: "There is no archive of the home."},
	lifecycle.CodeVolumeReady:  {now: "Volume {{.Volume}} holds the home."},
	lifecycle.CodePodReady:     {now: "Pod {{.Pod}} is ready."},
}

// aspects are the messages of VolumeReady, PodReady and ArchiveReady. They describe what is observed, not what is done.
var aspects = map[lifecycle.Code]string{
	lifecycle.CodeVolumeReady:       "Volume {{.Volume}} holds the home{{with .RestoredFrom}}, which was restored from archive {{.}}{{end}}.",
	lifecycle.CodeVolumeAbsent:      "There is no volume.",
	lifecycle.CodeVolumeLost:        "Volume {{.Volume}}, which held the home, is gone, replaced or lost.",
	lifecycle.CodeVolumeForeign:     "PersistentVolumeClaim {{.Volume}} does not belong to this workspace.",
	lifecycle.CodeVolumeTerminating: "Volume {{.Volume}} is being deleted.",
	lifecycle.CodeVolumePending:     "Volume {{.Volume}} is not provisioned yet.",
	lifecycle.CodeVolumeWaste:       "Volume {{.Volume}} does not hold a complete home.",
	lifecycle.CodePodReady:          "Pod {{.Pod}} is ready.",
	lifecycle.CodePodGone:           "There is no Pod.",
	lifecycle.CodePodForeign:        "Pod {{.Pod}} does not belong to this workspace.",
	lifecycle.CodePodEnded:          "Pod {{.Pod}} has ended.",
	lifecycle.CodePodNotReady:       "Pod {{.Pod}} is not ready.",
	lifecycle.CodeArchiveReady: "The home was archived at {{.ArchivedAt}} from volume {{.ArchiveVolume}}: {{.ArchiveKey}}" +
		"{{if .ArchiveStore}} in {{.ArchiveStore}}{{end}}, {{.ArchiveSize}}.{{if .LeftOut}} Left out: {{.LeftOut}}.{{end}}",
	lifecycle.CodeArchiveLost:       "Archive {{.ArchiveKey}} is recorded, but it or its marker is missing in the store.",
	lifecycle.CodeArchiveCorrupt:    "Archive {{.ArchiveKey}} is recorded, but it is corrupt.",
	lifecycle.CodeNoArchive:         "There is no archive of the home.",
	lifecycle.CodeObservationFailed: "Unknown, because the API server could not be read.",
	lifecycle.CodeStoreUnreachable:  archiveUnknown,
	lifecycle.CodeBucketMissing:     archiveUnknown,
	lifecycle.CodeArchiveNotFound:   "The store has no archive that spec.restoreFrom names: {{.From}}.",
	lifecycle.CodeArchiveForeign:    "Archive {{.From}} was made in another namespace.",
	lifecycle.CodeKeptArchiveLost:   "Archive {{.KeptKey}}, the newest that was kept under this name, is incomplete or damaged.",
}
