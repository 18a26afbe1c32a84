package lifecycle

import (
	"slices"
	"strings"
	"time"
)

// OrphanAge is how long, without interruption, nobody must have needed an archive before it goes:
// three attempts of 30 minutes and some slack (seed 001, Archive GC).
const OrphanAge = 2 * time.Hour

// massDeletion is how many archives may go at once even if they are more than half of all.
const massDeletion = 10

// Object is one archive in the store: its data, its marker, or both.
type Object struct {
	// Key is that of the data: archives/UID/OPERATION/home.tar.gz.
	Key string
	// Committed: the marker is there.
	Committed bool
	// Kept: it was left behind on purpose, and its Workspace is gone.
	Kept bool
	// ModifiedAt is when the data were written.
	ModifiedAt time.Time
}

// Reference is a Workspace, as far as it needs archives.
type Reference struct {
	UID, ArchiveKey string
	Operation       OperationType
	OperationID     string
	// Failed: it is in ERROR; nobody knows which of its archives are needed.
	Failed bool
	// Retain is how many of its archives are kept, the newest first, the recorded one always.
	Retain int
}

// CollectInput is what one cycle rests on. References must have been listed after Objects, or an archive
// that was made in between has no reference yet (D14).
type CollectInput struct {
	Now        time.Time
	Objects    []Object
	References []Reference
	// Synced: References were read from the API server, all of them.
	Synced bool
	// FirstSeen says since when each archive was found without a reference in every cycle.
	FirstSeen map[string]time.Time
	// Allowed is how many archives a person has allowed to go at once, whatever that looks like.
	Allowed int
}

// CollectDecision is what one cycle does.
type CollectDecision struct {
	// Victims may be deleted, after one more look at each (StillOrphan).
	Victims []string
	// FirstSeen is to be remembered.
	FirstSeen map[string]time.Time
	// Refused says why nothing is deleted though something is due; "" if nothing is refused.
	Refused Refused
	// Due is how many archives would go if a person allowed it.
	Due int
}

// Refused says why a cycle deletes nothing.
type Refused string

// Why a cycle deletes nothing.
const (
	RefusedUnsynced Refused = "WorkspacesUnknown"
	RefusedNobody   Refused = "NoWorkspaces"
	RefusedMass     Refused = "MassDeletion"
)

// Collect chooses the archives that nobody needs (W48). An archive that found a reference in between
// starts anew. It refuses when nothing is known of Workspaces, and, unless a person has allowed as
// many, when there are none at all, or when more than half of all archives would go, and more than ten.
func Collect(in CollectInput) CollectDecision {
	if !in.Synced {
		return CollectDecision{FirstSeen: in.FirstSeen, Refused: RefusedUnsynced}
	}
	if len(in.References) == 0 && len(in.Objects) > in.Allowed {
		return CollectDecision{FirstSeen: in.FirstSeen, Refused: RefusedNobody, Due: len(in.Objects)}
	}
	out := CollectDecision{FirstSeen: map[string]time.Time{}}
	for _, object := range in.Objects {
		if object.Kept || !orphan(object.Key, in.Objects, in.References) {
			continue
		}
		since, known := in.FirstSeen[object.Key]
		if !known || since.After(in.Now) {
			since = in.Now
		}
		out.FirstSeen[object.Key] = since
		if in.Now.Sub(since) >= OrphanAge {
			out.Victims = append(out.Victims, object.Key)
		}
	}
	if out.Due = len(out.Victims); out.Due > max(massDeletion, in.Allowed) && 2*out.Due > len(in.Objects) {
		out.Victims, out.Refused = nil, RefusedMass
	}
	slices.Sort(out.Victims)
	return out
}

// StillOrphan takes the last look before an archive is deleted: references must have been read just now.
func StillOrphan(key string, objects []Object, references []Reference) bool {
	return orphan(key, objects, references)
}

// orphan reports whether no reference needs the archive. One whose name is not of the form that Kyklos
// gives is left alone: somebody else put it there.
func orphan(key string, objects []Object, references []Reference) bool {
	owner, operation, ok := parseKey(key)
	if !ok {
		return false
	}
	for _, reference := range references {
		switch {
		case reference.ArchiveKey == key: // even of another one: it may have been taken over
			return false
		case reference.UID != owner:
		case reference.Failed, reference.Operation == Restoring, reference.OperationID == operation,
			slices.Contains(newest(reference, objects), key):
			return false
		}
	}
	return true
}

// newest returns the complete archives that a reference retains beside the recorded one.
func newest(reference Reference, objects []Object) []string {
	var own []Object
	for _, object := range objects {
		owner, _, ok := parseKey(object.Key)
		if ok && owner == reference.UID && object.Committed && object.Key != reference.ArchiveKey {
			own = append(own, object)
		}
	}
	slices.SortFunc(own, func(a, b Object) int { return b.ModifiedAt.Compare(a.ModifiedAt) })
	more := max(reference.Retain-1, 0)
	var keys []string
	for _, object := range own[:min(more, len(own))] {
		keys = append(keys, object.Key)
	}
	return keys
}

// parseKey takes the key of an archive apart.
func parseKey(key string) (workspaceUID, operationID string, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 4 || parts[0] != "archives" || parts[3] != "home.tar.gz" || parts[1] == "" || parts[2] == "" {
		return "", "", false
	}
	return parts[1], parts[2], true
}
