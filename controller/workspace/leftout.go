package workspace

import (
	"fmt"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// restoredInPart is the event about what the mover of a restored home could not restore (W66). What is not in an archive is in
// its marker, and so in the status.
func (p plan) restoredInPart() []events.Event {
	if p.status.Operation.Type != lifecycle.Restoring {
		return nil
	}
	for _, job := range p.view.Jobs {
		result, _ := moverResult(job.UID, p.movers)
		text := result.LeftOutText()
		if job.State == lifecycle.JobSucceeded && job.OperationID == p.status.Operation.ID && text != "" {
			return []events.Event{events.EmitWorkspaceTrouble(events.ReasonRestoredInPart, fmt.Sprintf(
				"Restored the home from archive %s without %s", p.status.ArchiveKey, text))}
		}
	}
	return nil
}
