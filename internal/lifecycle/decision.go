package lifecycle

import "time"

// Decision is what is to be done now: a new status to write, or one action, or neither.
type Decision struct {
	// Rule is the row of Rules that decided.
	Rule string
	// Status is to be written if it is not the one that was handed in.
	Status Status
	// Act is to be carried out. It is ActNone if Status is to be written.
	Act Action
	// LookAt is when to look again if nothing happens before; at once if it is not after now.
	LookAt time.Time
	// Word says why this is done, or what is waited for.
	Word       Word
	Conditions Conditions
}

// ActionKind is one kind of action.
type ActionKind string

// The kinds of actions. Those that delete name the object by its UID.
const (
	ActNone ActionKind = ""
	// ActLook: look again at the API server itself, and decide again at once; ActLookPods: also at all
	// Pods that use the volume.
	ActLook     ActionKind = "Look"
	ActLookPods ActionKind = "LookPods"
	// ActVerify: look into the store for Key, and decide again at once.
	ActVerify ActionKind = "Verify"
	// ActFindArchive: look into the store for the newest archive of the Workspace, and decide again at once.
	ActFindArchive     ActionKind = "FindArchive"
	ActAddFinalizer    ActionKind = "AddFinalizer"
	ActRemoveFinalizer ActionKind = "RemoveFinalizer"
	ActCreateVolume    ActionKind = "CreateVolume"
	ActMarkVolume      ActionKind = "MarkVolume"
	ActReleaseVolume   ActionKind = "ReleaseVolume"
	ActDeleteVolume    ActionKind = "DeleteVolume"
	ActCreatePod       ActionKind = "CreatePod"
	ActDeletePod       ActionKind = "DeletePod"
	ActCreateJob       ActionKind = "CreateJob"
	ActDeleteJob       ActionKind = "DeleteJob"
	// ActKeepArchive marks the archive at Key as left behind on purpose.
	ActKeepArchive ActionKind = "KeepArchive"
)

// Action is one action, with what it needs.
type Action struct {
	Kind ActionKind
	// Name and UID are of the object; UID is the precondition of deletions, patches and Jobs' volumes,
	// ResourceVersion one more when a volume is deleted.
	Name, UID, ResourceVersion string
	// OperationID and Attempt are to be written on what is made.
	OperationID string
	Attempt     int32
	// Key is the archive's; Epoch the volume's.
	Key   string
	Epoch int64
	// Marker is to be written on the volume.
	Marker Marker
}

// Word is a key of what is told to people; the texts are elsewhere.
type Word string

// The words.
const (
	WordConverged            Word = "Converged"
	WordClaimed              Word = "Claimed"
	WordFinished             Word = "Finished"
	WordWorking              Word = "Working"
	WordObserved             Word = "Observed"
	WordAdopted              Word = "VolumeAdopted"
	WordPaused               Word = "Paused"
	WordObservationFailed    Word = "ObservationFailed"
	WordPodNotReady          Word = "PodNotReady"
	WordPodGone              Word = "PodGone"
	WordPodEnded             Word = "PodEnded"
	WordPodForeign           Word = "PodForeign"
	WordVolumeAbsent         Word = "VolumeAbsent"
	WordVolumePending        Word = "VolumePending"
	WordVolumeTerminating    Word = "VolumeTerminating"
	WordVolumeForeign        Word = "VolumeForeign"
	WordVolumeUnknown        Word = "VolumeUnknown"
	WordVolumeInUse          Word = "VolumeInUse"
	WordVolumeLost           Word = "VolumeLost"
	WordVolumeWaste          Word = "VolumeWaste"
	WordVolumeReprieved      Word = "VolumeReprieved"
	WordArchiveLost          Word = "ArchiveLost"
	WordArchiveCorrupt       Word = "ArchiveCorrupt"
	WordArchiveNotConfigured Word = "ArchiveNotConfigured"
	WordStoreUnreachable     Word = "StoreUnreachable"
	WordBucketMissing        Word = "BucketMissing"
	WordArchiveElsewhere     Word = "ArchiveElsewhere"
	WordJobFailed            Word = "JobFailed"
	WordJobEnding            Word = "JobEnding"
	WordTimedOut             Word = "TimedOut"
	WordRefused              Word = "Refused"
	WordRetrying             Word = "WaitingToRetry"
	WordRestartBackoff       Word = "RestartBackoff"
	WordOwnerLimit           Word = "OwnerLimitExceeded"
	WordAllLimit             Word = "LimitExceeded"
	WordMoversFull           Word = "WaitingForMover"
	WordCancelled            Word = "Cancelled"
	WordStalled              Word = "Stalled"
	WordRecovered            Word = "Recovered"
	WordLossAccepted         Word = "LossAccepted"
	WordDeleting             Word = "Deleting"
	WordDeletionSlow         Word = "DeletionSlow"
	WordDeletionUnarchived   Word = "DeletedWithoutArchive"
	WordDeleted              Word = "Deleted"
	WordArchiveReady         Word = "ArchiveReady"
	WordNoArchive            Word = "NoArchive"
	WordVolumeReady          Word = "VolumeReady"
	WordPodReady             Word = "PodReady"
)
