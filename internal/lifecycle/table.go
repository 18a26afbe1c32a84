package lifecycle

import "time"

// Edge is one row of the table of operations (W17): the Operation that leads from From to To if one of Desired is desired.
type Edge struct {
	From      State
	Desired   []State
	Archive   Presence
	Operation OperationType
	To        State
}

// Presence is whether an edge requires an archive.
type Presence string

// Whether an edge requires an archive.
const (
	Either  Presence = ""
	With    Presence = "with an archive"
	Without Presence = "without an archive"
)

// Edges returns the table of operations. A Workspace changes by one level at a time (W18).
func Edges() []Edge { return edges }

var edges = []Edge{
	{Pending, []State{Standby, Running}, Without, Provisioning, Standby},
	{Pending, []State{Standby, Running}, With, Restoring, Standby},
	{Standby, []State{Running}, Either, Starting, Running},
	{Standby, []State{Pending}, Either, Archiving, Pending},
	{Running, []State{Standby, Pending}, Either, Stopping, Standby},
}

// Next returns the operation that leads from one state towards another; None if there is none.
func Next(from, desired State, archived bool) OperationType {
	for _, e := range edges {
		if e.From != from || e.Archive == With && !archived || e.Archive == Without && archived {
			continue
		}
		for _, d := range e.Desired {
			if d == desired {
				return e.Operation
			}
		}
	}
	return None
}

// Trait is what holds for all operations of a type.
type Trait struct {
	Operation OperationType
	// To is the state that it leads to.
	To State
	// Complete describes how completion is observed.
	Complete string
	// Limit is the default time limit of one attempt (W49).
	Limit time.Duration
	// Job: a mover Job does the work and takes a mover slot (D22).
	Job bool
	// Cancel: another desired state cancels it before its point of no return (D12).
	Cancel bool
}

// Traits returns the traits of each operation.
func Traits() []Trait { return traits }

var traits = []Trait{
	{Provisioning, Standby, "the Workspace's volume is usable and marked as an empty home", 5 * time.Minute, false, false},
	{Restoring, Standby, "the volume is marked as restored by this operation, and the Job and its Pods are gone", 30 * time.Minute, true, false},
	{Starting, Running, "the Pod of this operation is ready on the home's volume", 5 * time.Minute, false, false},
	{Stopping, Standby, "the Pod object is gone", 5 * time.Minute, false, false},
	{Archiving, Pending, "the volume is gone, and the archive of this operation is verified", 30 * time.Minute, true, true},
	{Removing, Deleting, "Pod, Jobs and volume are gone", 10 * time.Minute, false, false},
}

// TraitOf returns the traits of o.
func TraitOf(o OperationType) Trait {
	for _, t := range traits {
		if t.Operation == o {
			return t
		}
	}
	return Trait{Operation: o}
}
