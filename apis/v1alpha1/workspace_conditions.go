package v1alpha1

// The condition types of a Workspace; its status carries all six. They are public contract, as are the
// reasons below, which status.error.word and the events use too: rename none.
const (
	// ConditionReady says whether the workspace is in the desired state, and nothing is under way.
	ConditionReady = "Ready"
	// ConditionVolumeReady says whether the volume holds the home and can be used.
	ConditionVolumeReady = "VolumeReady"
	// ConditionPodReady says whether the workspace's Pod is ready.
	ConditionPodReady = "PodReady"
	// ConditionArchiveReady says whether an archive of the home is recorded, and was not found lost or damaged.
	ConditionArchiveReady = "ArchiveReady"
	// ConditionProgressing says whether Kyklos is bringing the workspace somewhere else.
	ConditionProgressing = "Progressing"
	// ConditionStalled says whether nothing goes on until somebody helps.
	ConditionStalled = "Stalled"
)

// Reasons for things as they should be.
const (
	// ReasonConverged: the state is the desired one. Of Stalled: nothing stands in the way.
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

// Reasons for what is under way.
const (
	// ReasonClaimed: an operation begins.
	ReasonClaimed = "Claimed"
	// ReasonWorking: an operation does its next step.
	ReasonWorking = "Working"
	// ReasonFinished: an operation was seen to be complete.
	ReasonFinished = "Finished"
	// ReasonObserved: the state was set to what is seen.
	ReasonObserved = "Observed"
	// ReasonVolumeAdopted: a volume that is marked as this workspace's home, or an archive of it, was not
	// recorded and is the home.
	ReasonVolumeAdopted = "VolumeAdopted"
	// ReasonJobEnding: a mover Job and its Pods have to go first.
	ReasonJobEnding = "JobEnding"
	// ReasonCancelled: archiving was ended, because the home is wanted again.
	ReasonCancelled = "Cancelled"
	// ReasonVolumeReprieved: a volume that was to be deleted is the home again.
	ReasonVolumeReprieved = "VolumeReprieved"
	// ReasonRecovered: the workspace has left ERROR.
	ReasonRecovered = "Recovered"
	// ReasonLossAccepted: somebody has accepted that a home is lost.
	ReasonLossAccepted = "LossAccepted"
	// ReasonDeleting: the Workspace is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonDeletedWithoutArchive: it was to be archived first, and that is not possible any more.
	ReasonDeletedWithoutArchive = "DeletedWithoutArchive"
	// ReasonDeleted: everything is gone.
	ReasonDeleted = "Deleted"
)

// Reasons for waiting.
const (
	// ReasonPaused: the user has set spec.pause.
	ReasonPaused = "Paused"
	// ReasonObservationFailed: something could not be read from the API server.
	ReasonObservationFailed = "ObservationFailed"
	// ReasonPodNotReady: the Pod is there and not ready.
	ReasonPodNotReady = "PodNotReady"
	// ReasonPodGone: the Pod is ending. Of PodReady: there is none.
	ReasonPodGone = "PodGone"
	// ReasonVolumeAbsent: there is no volume, or none yet.
	ReasonVolumeAbsent = "VolumeAbsent"
	// ReasonVolumePending: the storage class has not made the volume yet.
	ReasonVolumePending = "VolumePending"
	// ReasonVolumeTerminating: the volume is being deleted.
	ReasonVolumeTerminating = "VolumeTerminating"
	// ReasonVolumeInUse: somebody else's Pod uses the volume.
	ReasonVolumeInUse = "VolumeInUse"
	// ReasonWaitingToRetry: an attempt has failed, and the next is due later.
	ReasonWaitingToRetry = "WaitingToRetry"
	// ReasonRestartBackoff: the Pod dies again and again, and is started again ever later.
	ReasonRestartBackoff = "RestartBackoff"
	// ReasonOwnerLimitExceeded: the owner has as many running workspaces as may be.
	ReasonOwnerLimitExceeded = "OwnerLimitExceeded"
	// ReasonLimitExceeded: as many workspaces run in all as may.
	ReasonLimitExceeded = "LimitExceeded"
	// ReasonWaitingForMover: all movers are at work.
	ReasonWaitingForMover = "WaitingForMover"
	// ReasonArchiveNotConfigured: an archive is needed, and spec.archive names no store.
	ReasonArchiveNotConfigured = "ArchiveNotConfigured"
	// ReasonDeletionSlow: the deletion takes longer than it may, and goes on.
	ReasonDeletionSlow = "DeletionSlow"
	// ReasonStalled: the state is ERROR.
	ReasonStalled = "Stalled"
)

// Reasons for failures.
const (
	// ReasonPodEnded: the Pod has ended instead of running.
	ReasonPodEnded = "PodEnded"
	// ReasonPodForeign: the Pod's name is taken by somebody else's.
	ReasonPodForeign = "PodForeign"
	// ReasonVolumeForeign: the volume's name is taken by somebody else's.
	ReasonVolumeForeign = "VolumeForeign"
	// ReasonVolumeUnknown: a volume holds a home of which nothing is recorded.
	ReasonVolumeUnknown = "VolumeUnknown"
	// ReasonVolumeLost: the volume with the home is gone.
	ReasonVolumeLost = "VolumeLost"
	// ReasonVolumeWaste: the volume holds no home.
	ReasonVolumeWaste = "VolumeWaste"
	// ReasonArchiveLost: the archive is not in the store.
	ReasonArchiveLost = "ArchiveLost"
	// ReasonArchiveCorrupt: the archive is not what was archived.
	ReasonArchiveCorrupt = "ArchiveCorrupt"
	// ReasonStoreUnreachable: the object store cannot be reached, or refuses.
	ReasonStoreUnreachable = "StoreUnreachable"
	// ReasonBucketMissing: the object store has no such bucket.
	ReasonBucketMissing = "BucketMissing"
	// ReasonArchiveElsewhere: the archive is recorded in another store than is named now, and not in this one.
	ReasonArchiveElsewhere = "ArchiveElsewhere"
	// ReasonJobFailed: a mover has failed.
	ReasonJobFailed = "JobFailed"
	// ReasonTimedOut: an attempt took longer than it may.
	ReasonTimedOut = "TimedOut"
	// ReasonRefused: the API server refuses what has to be made.
	ReasonRefused = "Refused"
)
