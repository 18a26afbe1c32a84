package archivegc

import (
	"errors"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/metrics"
)

// report is what follows from a cycle.
type report struct {
	events  []storeEvent
	stores  metrics.ArchiveStores
	orphans int
	// deleted archives, and aborted uploads.
	deleted, aborted int
	err              error
}

type storeEvent struct {
	events.Event
	store string
}

// makeReport summarizes the results. An error before any store was checked counts as one failed store.
func makeReport(results []result, namespace string, err error) report {
	rep := report{err: err}
	if err != nil {
		rep.stores.Failed++
	}
	for i := range results {
		r := &results[i]
		for _, event := range eventsOf(r, namespace) {
			rep.events = append(rep.events, storeEvent{event, r.id})
		}
		rep.orphans += len(r.orphans)
		rep.deleted += r.deleted
		rep.aborted += r.aborted
		switch {
		case r.lost:
			rep.stores.Lost++
		case errors.Is(r.err, errForeign):
			rep.stores.Foreign++
		case r.err != nil, r.undeleted != nil:
			rep.stores.Failed++
		case r.refused != "":
			rep.stores.Refused++
		default:
			rep.stores.Done++
		}
	}
	return rep
}

// publish logs the report and publishes its metrics, and its events on the ConfigMap.
func (c *Collector) publish(l *ledger, rep report) {
	if rep.err != nil {
		c.Log.Error(rep.err, "Archive GC failed; the two hours restart for all unneeded archives")
	}
	metrics.RecordArchiveStores(rep.stores, rep.orphans)
	metrics.RecordArchivesDeleted(rep.deleted, rep.aborted)
	for _, event := range rep.events {
		c.Log.Info(event.Note, "reason", event.Reason, "store", event.store)
		if l.object.UID != "" { // otherwise there is no ConfigMap yet
			c.Events.Publish(l.object, c.Clock.Now(), event.Event)
		}
	}
}

// eventsOf returns the events about one store.
func eventsOf(r *result, namespace string) (found []events.Event) {
	switch {
	case r.lost:
		return []events.Event{events.EmitArchiveStoreLost(r.address)}
	case errors.Is(r.err, errForeign):
		return []events.Event{events.EmitArchiveStoreForeign(r.address, ownerName)}
	case r.err != nil:
		found = append(found, events.EmitArchiveGCFailed(r.address, r.err))
	case r.undeleted != nil:
		found = append(found, events.EmitArchiveGCFailed(r.address, r.undeleted))
	case r.refused != "":
		found = append(found, events.EmitArchiveGCRefused(r.address, r.due, r.all, r.refused == lifecycle.RefusedNobody,
			namespace, AllowAnnotation+"="+approval(r.id, r.due)))
	}
	if r.deleted > 0 {
		found = append(found, events.EmitArchivesDeleted(r.deleted, r.all-r.deleted, r.address))
	}
	return found
}
