package lifecycle

import "time"

// State is the state of a Workspace: one of three levels, or ERROR or DELETING.
type State string

// The states (W14, W18).
const (
	Pending  State = "PENDING"  // no Pod and no home on a volume
	Standby  State = "STANDBY"  // the home is on its volume, no Pod runs
	Running  State = "RUNNING"  // the Pod runs
	Failed   State = "ERROR"    // a person has to decide what happens to data
	Deleting State = "DELETING" // the Workspace is being deleted

	// Archived is PENDING with an archive, as shown to people (W14).
	Archived State = "ARCHIVED"
)

// Level returns the order of s in steps of 10; -1 for ERROR and DELETING.
func (s State) Level() int {
	switch s {
	case Pending:
		return 0
	case Standby:
		return 10
	case Running:
		return 20
	default:
		return -1
	}
}

// OperationType is a step that brings a Workspace from one level to the next.
type OperationType string

// The operations (W19-W24).
const (
	None         OperationType = "NONE"
	Provisioning OperationType = "PROVISIONING"
	Restoring    OperationType = "RESTORING"
	Starting     OperationType = "STARTING"
	Stopping     OperationType = "STOPPING"
	Archiving    OperationType = "ARCHIVING"
	Removing     OperationType = "DELETING"
)

// Content is what a volume holds.
type Content string

// What a volume holds. The empty string is Uninitialized in a record, and no marker on a volume.
const (
	Uninitialized Content = "Uninitialized"
	Empty         Content = "Empty"
	Restored      Content = "Restored"
	// Adopted: a person named it as the home, and nothing was started on it since. Its folder may be missing.
	Adopted Content = "Adopted"
)

// IsHome reports whether c is a home.
func (c Content) IsHome() bool { return c == Empty || c == Restored || c == Adopted }

// Reason is a class of failures.
type Reason string

// The classes of failures (W43, W44, W46).
const (
	Mismatch     Reason = "Mismatch"
	Unreachable  Reason = "Unreachable"
	ActionFailed Reason = "ActionFailed"
	Timeout      Reason = "Timeout"
	DataLost     Reason = "DataLost"
)

// MaxRetries is how many times an operation is retried after a Mismatch, or for an archive that is elsewhere, before a person
// has to decide (D9).
const MaxRetries = 3

// NeedsPerson reports whether a person has to decide what happens to data. Only such a failure ends in ERROR; after all others
// the operation is retried until it succeeds (W71). An unknown one, of a status that was edited, is left to a person.
func (f Failure) NeedsPerson() bool {
	return f.Reason == "" || f.Reason == DataLost || f.Reason == Mismatch && f.Code != CodePodForeign || f.Code == CodeArchiveElsewhere
}

// Probed reports whether a Workspace in ERROR retries by itself: no person has to decide, or where the store is may be
// corrected (D8).
func (f Failure) Probed() bool { return !f.NeedsPerson() || f.Code == CodeArchiveElsewhere }

// final reports whether no attempt is left after the n-th failure of its class.
func (f Failure) final(n int32) bool {
	return f.NeedsPerson() && (f.Reason == DataLost || n > MaxRetries)
}

// Failures counts the failures of one operation, separately for each class (D9).
type Failures struct {
	Mismatch, Unreachable, ActionFailed, Timeout, DataLost int32
}

// Count returns how many failures of a class there were.
func (f Failures) Count(r Reason) int32 { return *f.of(r) }

// of returns the counter of r.
func (f *Failures) of(r Reason) *int32 {
	switch r {
	case Mismatch:
		return &f.Mismatch
	case Unreachable:
		return &f.Unreachable
	case Timeout:
		return &f.Timeout
	case DataLost:
		return &f.DataLost
	default:
		return &f.ActionFailed
	}
}

// total returns the failures of all classes.
func (f Failures) total() int32 {
	return f.Mismatch + f.Unreachable + f.ActionFailed + f.Timeout + f.DataLost
}

// DeletionPolicy is what happens to the home when the Workspace is deleted.
type DeletionPolicy string

// The deletion policies.
const (
	DeleteHome  DeletionPolicy = "Delete"
	ArchiveHome DeletionPolicy = "ArchiveThenDelete"
	RetainHome  DeletionPolicy = "Retain"
)

// The intervals of the engine.
const (
	// Poll is the time between two passes if nothing happens (W39).
	Poll = time.Minute
	// retryPace and retryCap: 30 s, 1 min, 2 min, 4 min, 5 min between attempts, for as long as it takes (W71).
	retryPace, retryCap = 30 * time.Second, 5 * time.Minute
	// restartPace and restartCap delay the starts of a Pod that keeps ending (D16).
	restartPace, restartCap = 10 * time.Second, 5 * time.Minute
	// healthy is how long a Pod must run for its end not to count as a repetition.
	healthy = 10 * time.Minute
	// Probe is how often a Workspace in ERROR retries by itself, if it does (D8).
	Probe = 5 * time.Minute
)

// backoff returns pace x 2^(n-1), at most limit, for the n-th time, n >= 1.
func backoff(pace, limit time.Duration, n int32) time.Duration {
	for ; n > 1 && pace < limit; n-- {
		pace *= 2
	}
	return min(pace, limit)
}
