package lifecycle

import "time"

// Input is all that a decision rests on.
type Input struct {
	Now time.Time
	// NewID is an id that was never used before. It becomes the id of a operation, if one is made.
	NewID     string
	Workspace Workspace
	Status    Status
	Observed  Observation
	// Archive is what the last Verify in this look found; the zero value if there was none.
	Archive ArchiveView
	// Newest is what the last FindArchive in this look found: the key of the newest archive that is whole, or of the
	// newest one with the verdict Corrupt where all are damaged; the zero value if there was none.
	Newest ArchiveView
	// Refused is how the action that was just asked for failed; the zero value if it did not (D25).
	Rejected Rejection
	Limits   Limits
}

// Workspace is what was asked for: the spec, and what the metadata say.
type Workspace struct {
	Name, UID  string
	CreatedAt  time.Time
	Generation int64
	Desired    State
	Pause      bool
	// HasStore: an object store is configured, so that the home can be archived and restored.
	HasStore bool
	// Timeouts of one attempt; an operation that is left out has its Trait's limit.
	Timeouts       map[OperationType]time.Duration
	DeletionPolicy DeletionPolicy
	// Deleting: metadata.deletionTimestamp is set.
	Deleting bool
	// NamespaceTerminating: nothing new can be made here (D24).
	NamespaceTerminating bool
	// Finalizer: ours is set.
	Finalizer bool
	// RetryToken is the annotation that leads out of ERROR when it changes.
	RetryToken string
	// AcceptedLoss is the annotation by which a person accepts a loss: the UID of the lost volume, or
	// the key of the lost archive (D6).
	AcceptedLoss string
	// ArchiveReady is the condition as it was written last, "" for none.
	ArchiveReady Truth
}

// Status is what the engine remembers. Two of them are compared with ==.
type Status struct {
	ObservedGeneration   int64
	Phase, PreviousPhase State
	Operation            Operation
	ArchiveKey           string
	Archive              Archive
	Volume               Volume
	RunningSince         time.Time
	StandbySince         time.Time
	Error                Failure
	RetryToken           string    // the token that was last followed
	Restarts             int32     // deaths of the Pod in a row, each within ten minutes (D16)
	NextStartAt          time.Time // no start before it (D16)
}

// Claim is an operation that was claimed. Nothing that was made under another id is ever taken for
// its work (D2).
type Operation struct {
	Type      OperationType
	ID        string
	StartedAt time.Time
	// Attempt counts from 1; AttemptStartedAt is when it began or is to begin.
	Attempt          int32
	AttemptStartedAt time.Time
	Failures         Failures
	NextRetryAt      time.Time
	// JobName is recorded before the Job is made: with it, something may have been uploaded under ID.
	JobName string
	// PointOfNoReturn: the archive is verified and recorded, the volume is no home any more.
	PointOfNoReturn bool
	// Failed: no attempt is left; only what it started has to go before ERROR.
	Failed Reason
}

// Archive is what is known of the object at Status.ArchiveKey.
type Archive struct {
	SHA256      string
	Size        int64
	VolumeUID   string
	Epoch       int64
	CompletedAt time.Time
	// Store is where it was last found, as ArchiveView.Store; "" if that was never recorded.
	Store string
}

// Volume is the record of the home's volume.
type Volume struct {
	UID          string
	Content      Content
	RestoredFrom string
	// Epoch counts the starts on it. An archive of an earlier one is old (D2).
	Epoch int64
}

// Failure is what went wrong last.
type Failure struct {
	Reason     Reason
	Operation  OperationType
	Code       Code
	OccurredAt time.Time
}

// Limits are what others leave for this Workspace.
type Limits struct {
	// OwnerFull and AllFull: as many run already as may, of this owner or in all.
	OwnerFull, AllFull bool
	// MoversFull: all slots of mover Jobs are taken.
	MoversFull bool
}

// Rejection is how an action failed.
type Rejection struct {
	Reason Reason // "" if it did not fail
	// Final: trying again does not help, such as for an invalid image.
	Final bool
	Code  Code
}
