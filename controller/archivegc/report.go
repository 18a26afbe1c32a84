package archivegc

import (
	"errors"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// report tells of a cycle: in the log, in metrics, and in events on the ConfigMap.
func (c *Collector) report(b book, results []result, err error) {
	if err != nil {
		c.Log.Error(err, "The look for archives that nobody needs failed; nothing more is deleted, and it begins anew")
	}
	record(results, err)
	for i := range results {
		for _, event := range eventsOf(&results[i], c.Namespace) {
			c.Log.Info(event.Note, "reason", event.Reason, "store", results[i].id)
			if b.object.UID != "" { // else there is nothing that it could be about
				c.Events.Publish(b.object, c.Clock.Now(), event)
			}
		}
	}
}

// eventsOf are what became of one store.
func eventsOf(r *result, namespace string) (told []events.Event) {
	switch {
	case r.lost:
		return []events.Event{events.EmitArchiveStoreLost(r.address)}
	case errors.Is(r.err, errForeign):
		return []events.Event{events.EmitArchiveStoreForeign(r.address, ownerName)}
	case r.err != nil:
		told = append(told, events.EmitArchiveGCFailed(r.address, r.err))
	case r.undeleted != nil:
		told = append(told, events.EmitArchiveGCFailed(r.address, r.undeleted))
	case r.refused == lifecycle.RefusedNobody:
		told = append(told, events.EmitArchiveGCRefused(r.address, r.due, r.all, true, namespace, AllowAnnotation+"="+permit(r.id, r.due)))
	case r.refused != "":
		told = append(told, events.EmitArchiveGCRefused(r.address, r.due, r.all, false, namespace, AllowAnnotation+"="+permit(r.id, r.due)))
	}
	if r.deleted > 0 {
		told = append(told, events.EmitArchivesDeleted(r.deleted, r.all-r.deleted, r.address))
	}
	return told
}
