package message

import "kyklos.io/kyklos/internal/lifecycle"

// text is what is said for a word. Names in braces stand for facts; see facts.values.
type text struct {
	// now is what happens, and why.
	now string
	// do is what the user can do; "" if nothing has to be done.
	do string
	// tell says whether there is an event, and when; "" is never.
	tell telling
}

// telling says whether there is an event, and when.
type telling string

const (
	// good and bad events are sent when the status was written because of the word.
	good telling = "good"
	bad  telling = "bad"
	// news is sent when the word becomes the reason of Ready: it was another before.
	news telling = "news"
)

// dying is said instead of VolumeTerminating when it is the home that somebody deletes.
var dying = text{tell: news,
	now: "Somebody is deleting volume {volume}, which holds the home. It exists only as long as a Pod uses it, so Kyklos leaves the Pod alone.",
	do:  "Copy the home somewhere else now. To give it up: " + acceptLoss + ".",
}

// adopted is said instead of VolumeAdopted of an archive.
var adopted = text{tell: good, now: "The archive {archiveKey} of this workspace was found and was not recorded; it is the home from now on."}

// outdated follows what is said of a Pod that was made of an earlier spec.
const outdated = "It was made of an earlier spec. What has changed holds from the next start on: ask for STANDBY, and then for RUNNING."

// archiveUnknown is said as long as no store tells whether there is an archive that is not recorded.
const archiveUnknown = "It is not known whether there is an archive of the home: its store could not be asked."

// Commands that people can paste, and what they lead to.
const (
	describePod    = "`kubectl describe pod -n {namespace} {pod}` shows why."
	describeVolume = "`kubectl describe pvc -n {namespace} {volume}` shows why."
	deletePod      = "Delete it if nobody needs it: `kubectl delete pod -n {namespace} {pod}`."
	retry          = "`kubectl annotate workspace -n {namespace} {name} --overwrite kyklos.io/retry=\"$(date +%s)\"`"
	acceptLoss     = "`kubectl annotate workspace -n {namespace} {name} --overwrite kyklos.io/accept-data-loss={lost}`"
	giveUpArchive  = "`kubectl annotate workspace -n {namespace} {name} --overwrite kyklos.io/accept-data-loss={archiveKey}`"
	letGo          = " To delete the workspace without leaving an archive: `kubectl patch workspace -n {namespace} {name} --type=merge -p '{\"spec\":{\"deletionPolicy\":\"Delete\"}}'`."
	moverLog       = "`kubectl logs -n {namespace} job/{job}` shows more as long as the Job is there."
	repairArchive  = "Bring it back together with its .meta, from the bucket's versions or a backup. " +
		"If it is really lost, accept it and go on with what there is on the volume, or an empty home: " + acceptLoss + "."
	volumeGone = "Volume {volume} with the UID {volumeUID} held the home, and it is gone, replaced or lost. " +
		"Kyklos makes no other one in its place before somebody says so."
	repairVolume = "If the data are really lost, accept it and go on with {instead}: " + acceptLoss + "."
	homeGone     = "Volume {volume} is there, but the folder home on it is gone, although the workspace ran on it."
	repairHome   = "Nothing is started on it. Look into the volume, and bring the folder back from a snapshot or a backup; then ask for PENDING, which looks again: " + retry + ". If it is really lost, delete the volume too: `kubectl delete pvc -n {namespace} {volume}`. What is said then has the command that accepts the loss."
	adoptVolume  = "When Kyklos tries again, it takes the volume for the home."
	chooseVolume = "Look into the volume. To keep the archive, copy what you need and delete the volume: `kubectl delete pvc -n {namespace} {volume}`. To keep the volume: " +
		"`kubectl patch workspace -n {namespace} {name} --subresource=status --type=merge -p '{\"status\":{\"archiveKey\":null,\"archive\":null,\"volume\":null}}'`."
)

// texts are what is said for each word, as the reason of Ready, Progressing and Stalled, in status.error and in
// events.
var texts = map[lifecycle.Code]text{
	lifecycle.CodeConverged: {now: "{converged}"},
	lifecycle.CodeClaimed:   {now: "{doing}{so}."},
	lifecycle.CodeWorking:   {now: "{doing}{so}."},
	lifecycle.CodeFinished:  {now: "The workspace is in {state}; {desired} is desired."},
	lifecycle.CodeObserved:  {now: "The workspace was seen to be in {state}; {desired} is desired."},
	lifecycle.CodeAdopted: {tell: good,
		now: "Volume {volume} is marked as this workspace's home and was not recorded; it is the home from now on."},
	lifecycle.CodePaused: {now: "Kyklos looks and reports, and does nothing, because spec.pause is true.",
		do: "Set it to false to go on."},
	lifecycle.CodeObservationFailed: {tell: news,
		now: "The Pod, the volume or the Jobs could not be read from the API server, so nothing is done; what the status says may be old. Kyklos looks again every 30 seconds.",
		do:  "If this lasts, look into the manager's log."},
	lifecycle.CodePodNotReady: {now: "Pod {pod} is there but not ready.", do: describePod},
	lifecycle.CodePodGone:     {now: "Pod {pod} is ending; its container may take {grace} seconds for that."},
	lifecycle.CodePodEnded: {tell: bad,
		now: "Pod {pod} has ended instead of running.",
		do:  "Look at spec.image, command, args and resources."},
	lifecycle.CodePodForeign: {tell: bad,
		now: "Pod {pod} exists, and this workspace did not make it. Kyklos leaves it alone and cannot start its own.", do: deletePod},
	lifecycle.CodeVolumeAbsent:  {now: "Volume {volume} is being made."},
	lifecycle.CodeVolumePending: {now: "Volume {volume} waits for its storage class to make it.", do: describeVolume},
	lifecycle.CodeVolumeTerminating: {
		now: "Volume {volume} is being deleted; nothing can be done before it is gone.",
		do:  "If it stays, see who uses it: `kubectl describe pvc -n {namespace} {volume}`."},
	lifecycle.CodeVolumeForeign: {tell: bad,
		now: "PersistentVolumeClaim {volume} exists, and this workspace did not make it. Kyklos leaves it alone and cannot make its own.",
		do: "Delete it if nobody needs it: `kubectl delete pvc -n {namespace} {volume}`. If it has the annotation kyklos.io/home-content, it is the home of an earlier workspace, which this one can take over: " +
			"`kubectl label pvc -n {namespace} {volume} --overwrite app.kubernetes.io/managed-by=kyklos kyklos.io/workspace={name} kyklos.io/workspace-uid={uid}`."},
	lifecycle.CodeVolumeUnknown: {tell: bad,
		now: "Volume {volume} holds a home of which nothing is recorded{besides}.",
		do:  "{choice}"},
	lifecycle.CodeVolumeInUse: {tell: news,
		now: "A Pod that is not this workspace's uses volume {volume}. Until it is gone, the home is neither archived nor restored nor deleted.",
		do:  "`kubectl describe pvc -n {namespace} {volume}` names it under Used By."},
	lifecycle.CodeVolumeLost:  {tell: bad, now: "{volumeLost}", do: "{volumeRemedy}"},
	lifecycle.CodeVolumeWaste: {now: "Volume {volume} holds no home, or one that is safe in the archive, and is deleted."},
	lifecycle.CodeVolumeReprieved: {tell: bad,
		now: "Volume {volume} is not deleted and is the home again: its archive is not good any more, or somebody uses the volume."},
	lifecycle.CodeArchiveLost: {tell: bad,
		now: "The archive {key} is not in the store, or has no marker beside it.",
		do:  "{archiveRemedy}"},
	lifecycle.CodeArchiveCorrupt: {tell: bad,
		now: "The archive {key} is not what was archived: it does not match its marker or the recorded sum.",
		do:  "{archiveRemedy}"},
	lifecycle.CodeArchiveNotConfigured: {tell: news,
		now: "{unarchivable}, because spec.archive names no store.",
		do:  "Name a Secret with the object store in spec.archive.storeRef."},
	lifecycle.CodeStoreUnreachable: {tell: news,
		now: "The object store of Secret {store} cannot be reached, or refuses. No archive is taken for lost.",
		do:  "Check the address and the keys in the Secret, and the network.{letGo}"},
	lifecycle.CodeBucketMissing: {tell: news,
		now: "The object store of Secret {store} has no such bucket. No archive is taken for lost.",
		do:  "Create the bucket, or correct its name in the Secret.{letGo}"},
	lifecycle.CodeArchiveElsewhere: {tell: news,
		now: "The archive {archiveKey} was stored in {archiveStore}. Secret {store} names {seenStore} now, where it is not, or not as it was. No archive is taken for lost.",
		do:  "Point the Secret back, or copy the folder archives/{uid} there. To give the archive up: " + giveUpArchive + "."},
	lifecycle.CodeJobFailed: {tell: bad, now: "{doing} failed.", do: "{advice}"},
	lifecycle.CodeJobEnding: {now: "A mover's Job and its Pods have to be gone first: even one that has ended keeps the volume in use."},
	lifecycle.CodeTimedOut: {tell: bad,
		now: "{doing} took longer than the {limit} seconds that it may.", do: "{slow}"},
	lifecycle.CodeRefused: {tell: bad,
		now: "{doing} is not possible: the API server or the spec does not allow it.",
		do:  "Correct the spec, or the quotas and policies of namespace {namespace}."},
	lifecycle.CodeRetrying: {now: "{doing} has failed; attempt {attempt} begins at {retryAt}. See status.error."},
	lifecycle.CodeRestartBackoff: {tell: news,
		now: "The Pod has ended {restarts} times in a row, each time within ten minutes of its start. It is started again at {startAt}.",
		do:  "A limit on memory that is too low is a frequent cause; see spec.resources."},
	lifecycle.CodeOwnerLimit: {tell: news,
		now: "{owner} has {ownerLimit} running workspaces, and may not have more{running}. This one starts when another one stops.",
		do:  "{stopOne}"},
	lifecycle.CodeAllLimit: {tell: news,
		now: "In all, {allLimit} workspaces run already, and there may not be more. This one starts when another one stops."},
	lifecycle.CodeMoversFull: {now: "All {moverLimit} movers are at work; this home is moved when one is free."},
	lifecycle.CodeCancelled:  {tell: good, now: "Archiving was ended, because {desired} is desired. The volume is the home as before."},
	lifecycle.CodeStalled:    {now: "The workspace is in ERROR."},
	lifecycle.CodeRecovered:  {tell: good, now: "The workspace has left ERROR. Kyklos goes on from what is there."},
	lifecycle.CodeLossAccepted: {tell: bad,
		now: "The loss of {accepted} was accepted. Kyklos goes on from what is there."},
	lifecycle.CodeDeleting: {now: "The workspace is being deleted: {fate}."},
	lifecycle.CodeDeletionSlow: {tell: news,
		now: "The deletion takes longer than the {limit} seconds of spec.timeouts.deletingSeconds, and goes on: {fate}.",
		do:  "See what is left: `kubectl get pod,pvc,job -n {namespace} -l kyklos.io/workspace={name}`."},
	lifecycle.CodeDeletionUnarchived: {tell: bad,
		now: "The home is deleted without an archive, although spec.deletionPolicy is ArchiveThenDelete: in a namespace that is being deleted no Job can be made."},
	lifecycle.CodeDeleted:      {now: "Everything of the workspace is deleted."},
	lifecycle.CodeArchiveReady: {now: "The archive {key} is verified and recorded; the volume is deleted next."},
	lifecycle.CodeNoArchive:    {now: "There is no archive of the home."},
	lifecycle.CodeVolumeReady:  {now: "Volume {volume} holds the home."},
	lifecycle.CodePodReady:     {now: "Pod {pod} is ready."},
}

// aspects are the texts of VolumeReady, PodReady and ArchiveReady. They say what is seen, not what is done
// about it.
var aspects = map[lifecycle.Code]string{
	lifecycle.CodeVolumeReady:       "Volume {volume} holds the home.",
	lifecycle.CodeVolumeAbsent:      "There is no volume.",
	lifecycle.CodeVolumeLost:        "Volume {volume}, which held the home, is gone, replaced or lost.",
	lifecycle.CodeVolumeForeign:     "PersistentVolumeClaim {volume} is not this workspace's.",
	lifecycle.CodeVolumeTerminating: "Volume {volume} is being deleted.",
	lifecycle.CodeVolumePending:     "Volume {volume} is not made yet.",
	lifecycle.CodeVolumeWaste:       "Volume {volume} holds no home, or not yet.",
	lifecycle.CodePodReady:          "Pod {pod} is ready.",
	lifecycle.CodePodGone:           "There is no Pod.",
	lifecycle.CodePodForeign:        "Pod {pod} is not this workspace's.",
	lifecycle.CodePodEnded:          "Pod {pod} has ended.",
	lifecycle.CodePodNotReady:       "Pod {pod} is not ready.",
	lifecycle.CodeArchiveReady:      "There is an archive of the home, made at {archivedAt}: {archiveKey}{inStore}, {archiveSize}, of volume {archiveVolume}.",
	lifecycle.CodeArchiveLost:       "The archive {archiveKey} is recorded, and it is not in the store, or has no marker beside it.",
	lifecycle.CodeArchiveCorrupt:    "The archive {archiveKey} is recorded, and it is not what was archived.",
	lifecycle.CodeNoArchive:         "There is no archive of the home.",
	lifecycle.CodeObservationFailed: "It could not be read from the API server.",
	lifecycle.CodeStoreUnreachable:  archiveUnknown,
	lifecycle.CodeBucketMissing:     archiveUnknown,
}
