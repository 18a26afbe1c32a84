package v1alpha1

// The condition types of a Workspace. Its status always has all of them, and InUse and ServiceReady, which have files of their own.
// These types and the reasons below, which are also the values of status.error.code and the reasons of events, are a public
// contract: do not rename them.
const (
	// ConditionReady is whether the workspace is in the desired state and no operation is in progress.
	ConditionReady = "Ready"
	// ConditionVolumeReady is whether the volume holds the home and is usable.
	ConditionVolumeReady = "VolumeReady"
	// ConditionPodReady is whether the workspace's Pod is ready.
	ConditionPodReady = "PodReady"
	// ConditionArchiveReady is whether an archive of the home is recorded and was not found to be lost or corrupt.
	ConditionArchiveReady = "ArchiveReady"
	// ConditionProgressing is whether Kyklos is changing the workspace.
	ConditionProgressing = "Progressing"
	// ConditionStalled is whether the workspace makes no progress without help.
	ConditionStalled = "Stalled"
)

// Reasons of a workspace at rest.
const (
	// ReasonConverged: the state is the desired one. For Stalled: nothing blocks the workspace.
	ReasonConverged = "Converged"
	// ReasonVolumeReady: the volume holds the home.
	ReasonVolumeReady = "VolumeReady"
	// ReasonPodReady: the Pod is ready.
	ReasonPodReady = "PodReady"
	// ReasonArchiveReady: an archive is verified and recorded.
	ReasonArchiveReady = "ArchiveReady"
	// ReasonNoArchive: there is no archive of the home.
	ReasonNoArchive = "NoArchive"
)

// Reasons of operations and transitions.
const (
	// ReasonClaimed: an operation begins.
	ReasonClaimed = "Claimed"
	// ReasonWorking: an operation does its next step.
	ReasonWorking = "Working"
	// ReasonFinished: an operation is complete.
	ReasonFinished = "Finished"
	// ReasonObserved: the state was set to the observed one.
	ReasonObserved = "Observed"
	// ReasonVolumeAdopted: a volume that is marked as this workspace's home, or an archive of it, was not recorded. It is the home now.
	ReasonVolumeAdopted = "VolumeAdopted"
	// ReasonJobEnding: Kyklos waits for a mover Job and its Pods to be gone.
	ReasonJobEnding = "JobEnding"
	// ReasonCancelled: an operation was cancelled because another state is desired.
	ReasonCancelled = "Cancelled"
	// ReasonVolumeReprieved: a volume that was about to be deleted is the home again.
	ReasonVolumeReprieved = "VolumeReprieved"
	// ReasonRecovered: the workspace has left ERROR.
	ReasonRecovered = "Recovered"
	// ReasonLossAccepted: a user accepted the loss of the home.
	ReasonLossAccepted = "LossAccepted"
	// ReasonDeleting: the Workspace is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonDeletedWithoutArchive: the home should have been archived first, which is no longer possible.
	ReasonDeletedWithoutArchive = "DeletedWithoutArchive"
	// ReasonDeleted: everything is deleted.
	ReasonDeleted = "Deleted"
)

// Reasons for waiting.
const (
	// ReasonPaused: spec.pause is set.
	ReasonPaused = "Paused"
	// ReasonObservationFailed: the API server could not be read.
	ReasonObservationFailed = "ObservationFailed"
	// ReasonPodNotReady: the Pod is not ready.
	ReasonPodNotReady = "PodNotReady"
	// ReasonPodGone: the Pod is stopping. For PodReady: there is no Pod.
	ReasonPodGone = "PodGone"
	// ReasonVolumeAbsent: there is no volume yet.
	ReasonVolumeAbsent = "VolumeAbsent"
	// ReasonVolumePending: the storage class has not provisioned the volume yet.
	ReasonVolumePending = "VolumePending"
	// ReasonVolumeTerminating: the volume is being deleted.
	ReasonVolumeTerminating = "VolumeTerminating"
	// ReasonVolumeInUse: another Pod uses the volume.
	ReasonVolumeInUse = "VolumeInUse"
	// ReasonWaitingToRetry: an attempt failed, and the next one is scheduled.
	ReasonWaitingToRetry = "WaitingToRetry"
	// ReasonRestartBackoff: the Pod keeps ending soon after its start, and the next start is delayed.
	ReasonRestartBackoff = "RestartBackoff"
	// ReasonOwnerLimitExceeded: the owner has reached the limit of running workspaces in this namespace.
	ReasonOwnerLimitExceeded = "OwnerLimitExceeded"
	// ReasonNamespaceLimitExceeded: the namespace has reached the limit of running workspaces.
	ReasonNamespaceLimitExceeded = "NamespaceLimitExceeded"
	// ReasonLimitExceeded: the limit of running workspaces in the cluster is reached.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonWaitingForMover: no mover is free, or it is the turn of another workspace.
	ReasonWaitingForMover = "WaitingForMover"
	// ReasonArchiveNotConfigured: an archive is needed, and spec.archive names no store.
	ReasonArchiveNotConfigured = "ArchiveNotConfigured"
	// ReasonArchiveFound: the home begins with an archive that this workspace did not make, because spec.restoreFrom names it or a
	// deleted workspace of this name left it behind.
	ReasonArchiveFound = "ArchiveFound"
	// ReasonArchiveNotFound: the archive that spec.restoreFrom names is not in the store.
	ReasonArchiveNotFound = "ArchiveNotFound"
	// ReasonArchiveForeign: the archive that spec.restoreFrom names was made in another namespace.
	ReasonArchiveForeign = "ArchiveForeign"
	// ReasonKeptArchiveLost: the newest archive that was kept under this name is incomplete or damaged, so nothing is created.
	ReasonKeptArchiveLost = "KeptArchiveLost"
	// ReasonDeletionSlow: the deletion takes longer than its time limit. It continues.
	ReasonDeletionSlow = "DeletionSlow"
	// ReasonStalled: the state is ERROR.
	ReasonStalled = "Stalled"
)

// Reasons for failures.
const (
	// ReasonPodEnded: the Pod ended instead of running.
	ReasonPodEnded = "PodEnded"
	// ReasonPodForeign: a Pod with the required name exists and belongs to something else.
	ReasonPodForeign = "PodForeign"
	// ReasonVolumeForeign: a PersistentVolumeClaim with the required name exists and belongs to something else.
	ReasonVolumeForeign = "VolumeForeign"
	// ReasonVolumeUnknown: the volume holds a home that is not recorded.
	ReasonVolumeUnknown = "VolumeUnknown"
	// ReasonVolumeLost: the volume with the home is gone.
	ReasonVolumeLost = "VolumeLost"
	// ReasonVolumeWaste: the volume does not hold a home.
	ReasonVolumeWaste = "VolumeWaste"
	// ReasonArchiveLost: the archive is not in the store.
	ReasonArchiveLost = "ArchiveLost"
	// ReasonArchiveCorrupt: the archive does not match its checksum or its marker.
	ReasonArchiveCorrupt = "ArchiveCorrupt"
	// ReasonStoreUnreachable: the object store cannot be reached or denies access.
	ReasonStoreUnreachable = "StoreUnreachable"
	// ReasonBucketMissing: the bucket does not exist in the object store.
	ReasonBucketMissing = "BucketMissing"
	// ReasonArchiveElsewhere: the archive was recorded in another store than the configured one, and is not in this one.
	ReasonArchiveElsewhere = "ArchiveElsewhere"
	// ReasonJobFailed: a mover failed.
	ReasonJobFailed = "JobFailed"
	// ReasonHomeUnreadable: the mover may not read all of the home, so it is not archived.
	ReasonHomeUnreadable = "HomeUnreadable"
	// ReasonTimedOut: an attempt exceeded its time limit.
	ReasonTimedOut = "TimedOut"
	// ReasonRefused: the API server rejected an object.
	ReasonRefused = "Refused"
	// ReasonFailedCreate: the API server rejects the Pod of a mover, so that the home cannot be archived or restored.
	ReasonFailedCreate = "FailedCreate"
)
