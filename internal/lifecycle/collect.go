package lifecycle

import (
	"slices"
	"strings"
	"time"
)

// OrphanAge is how long an archive must be unneeded without interruption before it is deleted: three attempts of 30 minutes
// and some slack (W48).
const OrphanAge = 2 * time.Hour

// massDeletion is how many archives may be deleted at once even if they are more than half of all.
const massDeletion = 10

// Object is one archive in the store: its data, its marker, or both.
type Object struct {
	// Key is that of the data: archives/UID/OPERATION/home.tar.gz.
	Key string
	// Committed: the marker is there.
	Committed bool
	// Kept: it was kept on purpose, and its Workspace is gone.
	Kept bool
	// ModifiedAt is when the data was written.
	ModifiedAt time.Time
}

// Reference is what one Workspace needs.
type Reference struct {
	UID, ArchiveKey string
	// Named is the archive that spec.restoreFrom names, if it names one.
	Named       string
	Operation   OperationType
	OperationID string
	// Failed: the Workspace is in ERROR, so it is unknown which of its archives are needed.
	Failed bool
	// Retain is how many of its archives are kept, newest first. The recorded one is always kept.
	Retain int
}

// CollectInput is what one cycle is based on. References must be listed after Objects, or an archive that was made in between
// has no reference yet (D14).
type CollectInput struct {
	Now        time.Time
	Objects    []Object
	References []Reference
	// Synced: References are complete, from the API server.
	Synced bool
	// FirstSeen is since when each archive was found without a reference in every cycle.
	FirstSeen map[string]time.Time
	// Allowed is how many archives a user allowed to delete at once, whatever their share.
	Allowed int
}

// CollectDecision is what one cycle does.
type CollectDecision struct {
	// Victims may be deleted, after one more check of each (StillOrphan).
	Victims []string
	// FirstSeen is the FirstSeen of the next cycle.
	FirstSeen map[string]time.Time
	// Refused is why nothing is deleted although something is due; empty otherwise.
	Refused Refused
	// Due is how many archives would be deleted if a user allowed it.
	Due int
}

// Refused is why a cycle deletes nothing.
type Refused string

// The reasons to delete nothing.
const (
	RefusedUnsynced Refused = "WorkspacesUnknown"
	RefusedNobody   Refused = "NoWorkspaces"
	RefusedMass     Refused = "MassDeletion"
)

// Collect selects the archives that are not needed (W48). The age of an archive that had a reference in between starts over.
// It refuses if Workspaces are unknown and, unless a user allowed as many, if there are none at all, or if more than half of
// all archives and more than ten would be deleted.
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

// StillOrphan is the last check before an archive is deleted. References must have just been read.
func StillOrphan(key string, objects []Object, references []Reference) bool {
	return orphan(key, objects, references)
}

// orphan reports whether no reference needs the archive. An object whose name is not of Kyklos' form is ignored.
func orphan(key string, objects []Object, references []Reference) bool {
	owner, operation, ok := parseKey(key)
	if !ok {
		return false
	}
	for _, reference := range references {
		switch {
		case reference.ArchiveKey == key, reference.Named == key: // even of another Workspace: it may have been taken over
			return false
		case reference.UID != owner:
		case reference.Failed, reference.Operation == Restoring, reference.OperationID == operation,
			slices.Contains(newest(reference, objects), key):
			return false
		}
	}
	return true
}

// newest returns the complete archives that a reference retains besides the recorded one: as many as it asks for, and in any
// case those that no other one is newer than. A status may be older than the archives, such as after etcd was restored (W63).
func newest(reference Reference, objects []Object) []string {
	var own []Object
	var last time.Time
	for _, object := range objects {
		owner, _, ok := parseKey(object.Key)
		if !ok || owner != reference.UID || !object.Committed {
			continue
		}
		if object.ModifiedAt.After(last) {
			last = object.ModifiedAt
		}
		if object.Key != reference.ArchiveKey {
			own = append(own, object)
		}
	}
	slices.SortFunc(own, func(a, b Object) int { return b.ModifiedAt.Compare(a.ModifiedAt) })
	more := max(reference.Retain-1, 0)
	var keys []string
	for i, object := range own {
		if i < more || object.ModifiedAt.Equal(last) {
			keys = append(keys, object.Key)
		}
	}
	return keys
}

// parseKey splits the key of an archive.
func parseKey(key string) (workspaceUID, operationID string, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) != 4 || parts[0] != "archives" || parts[3] != "home.tar.gz" || parts[1] == "" || parts[2] == "" {
		return "", "", false
	}
	return parts[1], parts[2], true
}
