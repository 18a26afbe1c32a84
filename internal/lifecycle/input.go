package lifecycle

import "time"

// Input is everything that a decision is based on.
type Input struct {
	Now time.Time
	// NewID is a unique id. It becomes the id of an operation that starts.
	NewID     string
	Workspace Workspace
	Status    Status
	Observed  Observation
	// Archive is the answer to the last Verify in this pass; the zero value if there was none.
	Archive ArchiveView
	// Newest is the answer to FindArchive in this pass: the newest archive, with the verdict Corrupt if it is damaged; the zero
	// value if there was none. If the Workspace has none, it is what RestoreFrom names.
	Newest ArchiveView
	// Refused is how the requested action failed; the zero value if it did not (D25).
	Rejected Rejection
	// MoverAccepted is the answer to TryMover in this pass; a refusal is in Rejected.
	MoverAccepted bool
	Limits        Limits
}

// Workspace is the desired state and the relevant metadata.
type Workspace struct {
	Name, UID  string
	CreatedAt  time.Time
	Generation int64
	Desired    State
	Pause      bool
	// HasStore: spec.archive names an object store.
	HasStore bool
	// RestoreFrom is what a new home begins with: FromLatest, FromNothing or the key of an archive; empty means FromLatest,
	// or an empty home if there is none.
	RestoreFrom string
	// Timeouts are the time limits of one attempt; the default is the Trait's.
	Timeouts       map[OperationType]time.Duration
	DeletionPolicy DeletionPolicy
	// Deleting: metadata.deletionTimestamp is set.
	Deleting bool
	// NamespaceTerminating: nothing can be created (D24).
	NamespaceTerminating bool
	// Finalizer: the finalizer of Kyklos is set.
	Finalizer bool
	// RetryToken is the annotation that requests a retry when it changes.
	RetryToken string
	// AcceptedLoss is the annotation by which a user accepts a loss: the UID of the lost volume or the key of the lost
	// archive (D6).
	AcceptedLoss string
	// Adopts is the annotation by which a user names the UID of the volume that is the home (W78).
	Adopts string
	// ArchiveReady is the condition as it was last written; empty if there is none.
	ArchiveReady Truth
}

// Status is the recorded state. Statuses are compared with ==.
type Status struct {
	ObservedGeneration int64
	Phase              State
	Operation          Operation
	ArchiveKey         string
	Archive            Archive
	Volume             Volume
	RunningSince       time.Time
	StandbySince       time.Time
	Error              Failure
	RetryToken         string    // the last token that was acted on
	Restarts           int32     // consecutive ends of the Pod within ten minutes of its start (D16)
	NextStartAt        time.Time // earliest next start (D16)
}

// Operation is the operation in progress. Objects that were created under another id are never used for it (D2).
type Operation struct {
	Type      OperationType
	ID        string
	StartedAt time.Time
	// Attempt counts from 1; AttemptStartedAt is when it started or will start.
	Attempt          int32
	AttemptStartedAt time.Time
	Failures         Failures
	NextRetryAt      time.Time
	// JobName is recorded before the Job is created. Once it is, there may be an upload under ID.
	JobName string
	// PointOfNoReturn: the archive is verified and recorded, and the volume is no longer the home.
	PointOfNoReturn bool
	// Failed: no attempt is left. What the operation created is removed before ERROR.
	Failed Reason
}

// Archive describes the archive at Status.ArchiveKey.
type Archive struct {
	SHA256      string
	Size        int64
	VolumeUID   string
	Epoch       int64
	CompletedAt time.Time
	// Store is where it was last found, as in ArchiveView.Store; empty if unknown.
	Store string
	// LeftOut says what of the home is not in it.
	LeftOut string
}

// Volume is the recorded volume of the home.
type Volume struct {
	UID          string
	Content      Content
	RestoredFrom string
	// Epoch counts the starts on it. An archive of an earlier epoch is outdated (D2).
	Epoch int64
}

// Failure is the last failure.
type Failure struct {
	Reason     Reason
	Operation  OperationType
	Code       Code
	OccurredAt time.Time
}

// Limits are what other Workspaces leave for this one.
type Limits struct {
	// OwnerFull, NamespaceFull and AllFull: the limit of running workspaces is reached, of this owner in the namespace, of the
	// namespace, or in all.
	OwnerFull, NamespaceFull, AllFull bool
	// MoversFull: there is no mover's slot for this one, or it is another one's turn (W58).
	MoversFull bool
}

// Rejection is how an action failed.
type Rejection struct {
	Reason Reason // "" if it did not fail
	// Final: retrying does not help, such as with an invalid image.
	Final bool
	Code  Code
}
