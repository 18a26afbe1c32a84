package lifecycle

import "time"

// Decision is the next step: a new status to write, or one action, or neither.
type Decision struct {
	// Rule is the row of Rules that decided.
	Rule string
	// Status is to be written if it differs from the one in the Input.
	Status Status
	// Act is to be executed. It is ActNone if Status is to be written.
	Act Action
	// RequeueAt is when to run the next pass if nothing happens before; at once if it is not after now.
	RequeueAt time.Time
	// Code is the reason for the decision, or what it waits for.
	Code       Code
	Conditions Conditions
}

// ActionKind is one kind of action.
type ActionKind string

// The kinds of actions. Deletions name the object by its UID.
const (
	ActNone ActionKind = ""
	// ActReadLive: read from the API server itself and decide again at once. ActReadPods: also list all Pods that use
	// the volume.
	ActReadLive ActionKind = "ReadLive"
	ActReadPods ActionKind = "ReadPods"
	// ActVerify: check the archive at Key in the store and decide again at once.
	ActVerify ActionKind = "Verify"
	// ActFindArchive: find the newest archive of the Workspace in the store, or else the one that RestoreFrom names, and
	// decide again at once.
	ActFindArchive ActionKind = "FindArchive"
	// ActTryMover: ask the API server whether it accepts the Pod of the mover, and decide again at once.
	ActTryMover        ActionKind = "TryMover"
	ActAddFinalizer    ActionKind = "AddFinalizer"
	ActRemoveFinalizer ActionKind = "RemoveFinalizer"
	ActCreateVolume    ActionKind = "CreateVolume"
	ActMarkVolume      ActionKind = "MarkVolume"
	// ActAdoptVolume makes a volume that a person chose, or that a deleted Workspace of the same name left behind, the Workspace's
	// own, and marks it.
	ActAdoptVolume   ActionKind = "AdoptVolume"
	ActReleaseVolume ActionKind = "ReleaseVolume"
	ActDeleteVolume  ActionKind = "DeleteVolume"
	ActCreatePod     ActionKind = "CreatePod"
	ActDeletePod     ActionKind = "DeletePod"
	ActCreateJob     ActionKind = "CreateJob"
	ActDeleteJob     ActionKind = "DeleteJob"
	// ActKeepArchive marks the archive at Key as kept on purpose.
	ActKeepArchive ActionKind = "KeepArchive"
)

// Action is one action and its parameters.
type Action struct {
	Kind ActionKind
	// Name and UID identify the object. UID is a precondition of deletions, patches and the volumes of Jobs;
	// ResourceVersion is one of volume deletions.
	Name, UID, ResourceVersion string
	// OperationID and Attempt are written to what is created.
	OperationID string
	Attempt     int32
	// Key is the archive's, Epoch the volume's.
	Key   string
	Epoch int64
	// RestoredFrom is the archive that the home to archive was restored from; empty if from none.
	RestoredFrom string
	// Marker is to be written to the volume.
	Marker Marker
	// Unname: before the finalizer is removed, nothing is to be found by the Workspace's name any more.
	Unname bool
}

// Code is the reason for a decision: a condition reason, status.error.code or an event reason. The messages are in
// controller/workspace/message.
type Code string

// The codes.
const (
	CodeConverged            Code = "Converged"
	CodeClaimed              Code = "Claimed"
	CodeFinished             Code = "Finished"
	CodeWorking              Code = "Working"
	CodeObserved             Code = "Observed"
	CodeAdopted              Code = "VolumeAdopted"
	CodePaused               Code = "Paused"
	CodeObservationFailed    Code = "ObservationFailed"
	CodePodNotReady          Code = "PodNotReady"
	CodePodGone              Code = "PodGone"
	CodePodEnded             Code = "PodEnded"
	CodePodForeign           Code = "PodForeign"
	CodeVolumeAbsent         Code = "VolumeAbsent"
	CodeVolumePending        Code = "VolumePending"
	CodeVolumeTerminating    Code = "VolumeTerminating"
	CodeVolumeForeign        Code = "VolumeForeign"
	CodeVolumeUnknown        Code = "VolumeUnknown"
	CodeVolumeInUse          Code = "VolumeInUse"
	CodeVolumeLost           Code = "VolumeLost"
	CodeVolumeWaste          Code = "VolumeWaste"
	CodeVolumeReprieved      Code = "VolumeReprieved"
	CodeArchiveLost          Code = "ArchiveLost"
	CodeArchiveCorrupt       Code = "ArchiveCorrupt"
	CodeArchiveNotConfigured Code = "ArchiveNotConfigured"
	CodeStoreUnreachable     Code = "StoreUnreachable"
	CodeBucketMissing        Code = "BucketMissing"
	CodeArchiveElsewhere     Code = "ArchiveElsewhere"
	CodeArchiveFound         Code = "ArchiveFound"
	CodeArchiveNotFound      Code = "ArchiveNotFound"
	CodeArchiveForeign       Code = "ArchiveForeign"
	CodeKeptArchiveLost      Code = "KeptArchiveLost"
	CodeJobFailed            Code = "JobFailed"
	CodeHomeUnreadable       Code = "HomeUnreadable"
	CodeJobEnding            Code = "JobEnding"
	CodeTimedOut             Code = "TimedOut"
	CodeRefused              Code = "Refused"
	CodeFailedCreate         Code = "FailedCreate"
	CodeRetrying             Code = "WaitingToRetry"
	CodeRestartBackoff       Code = "RestartBackoff"
	CodeOwnerLimit           Code = "OwnerLimitExceeded"
	CodeNamespaceLimit       Code = "NamespaceLimitExceeded"
	CodeAllLimit             Code = "LimitExceeded"
	CodeMoversFull           Code = "WaitingForMover"
	CodeCancelled            Code = "Cancelled"
	CodeStalled              Code = "Stalled"
	CodeRecovered            Code = "Recovered"
	CodeLossAccepted         Code = "LossAccepted"
	CodeDeleting             Code = "Deleting"
	CodeDeletionSlow         Code = "DeletionSlow"
	CodeDeletionUnarchived   Code = "DeletedWithoutArchive"
	CodeDeleted              Code = "Deleted"
	CodeArchiveReady         Code = "ArchiveReady"
	CodeNoArchive            Code = "NoArchive"
	CodeVolumeReady          Code = "VolumeReady"
	CodePodReady             Code = "PodReady"
)
