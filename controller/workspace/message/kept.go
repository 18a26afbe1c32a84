package message

import (
	"fmt"
	"strings"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// maxKept is how many archives an event names.
const maxKept = 3

// Unnamed are the events about what earlier deletions kept under the name of a Workspace that is deleted with its home. err is why
// it may still be found.
func Unnamed(ws *v1alpha1.Workspace, kept []archive.Key, err error) []events.Event {
	secret := "(none)"
	if ws.Spec.Archive != nil {
		secret = ws.Namespace + "/" + ws.Spec.Archive.StoreRef.Name
	}
	if err != nil {
		return []events.Event{events.EmitWorkspaceTrouble(events.ReasonKeptArchivesStay, fmt.Sprintf(
			"What earlier deletions kept under this name, if anything, is still found by it in the object store of Secret %s: a new workspace of this name "+
				"begins with it, unless its spec.restoreFrom is empty. Cause: %s", secret, tail(strings.TrimRight(err.Error(), "."))))}
	}
	if len(kept) == 0 {
		return nil
	}
	names := make([]string, 0, maxKept)
	for _, key := range kept[:min(len(kept), maxKept)] {
		names = append(names, key.Data())
	}
	list := strings.Join(names, ", ")
	if more := len(kept) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return []events.Event{events.EmitWorkspace(events.ReasonKeptArchivesStay, fmt.Sprintf(
		"Earlier deletions kept archives under this name: they stay in the object store of Secret %s, but a new workspace begins with one only if its "+
			"spec.restoreFrom names it: %s. To have one deleted, delete the object kept beside it", secret, list))}
}

// held reports whether a deletion waits for an archive that is lost.
func (f Facts) held() bool {
	stalled := f.Decision.Conditions.Stalled
	return f.Decision.Status.Operation.Type == lifecycle.Removing && stalled.Status == lifecycle.True &&
		(stalled.Reason == lifecycle.CodeArchiveLost || stalled.Reason == lifecycle.CodeArchiveCorrupt)
}
