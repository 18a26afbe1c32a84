package archivegc

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

const (
	// storesAtOnce bounds how many stores are gone through at once, so that one that hangs does not
	// keep the others waiting.
	storesAtOnce = 4
	// storeTimeout bounds the look at one store.
	storeTimeout = 20 * time.Minute
	// cycleTimeout bounds all else of a cycle.
	cycleTimeout = 4 * time.Hour
)

// Collector deletes archives that nobody needs.
type Collector struct {
	Options
	// Live reads from the API server itself; Writer writes the ConfigMap.
	Live   client.Reader
	Writer client.Client
	// Open makes a store of a Secret: connect.Open.
	Open   func(secret map[string][]byte, options connect.Options) (archive.Issuer, error)
	Events *events.Recorder
	Log    logr.Logger

	// even is what the clocks showed when they last began to be compared.
	even clocks
}

// Cycle goes through all stores once, and tells of it.
func (c *Collector) Cycle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cycleTimeout)
	defer cancel()
	b, results, err := c.cycle(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return // we are told to stop
	}
	c.report(b, results, err)
}

// cycle returns the book as it is now, and what became of each store. An error means that nothing was
// begun, or that nothing of it is remembered.
func (c *Collector) cycle(ctx context.Context) (book, []result, error) {
	b, err := c.load(ctx)
	if err != nil {
		return b, nil, err
	}
	if c.stepped() {
		c.Log.Info("The clock was stepped or the machine slept; the time for which nobody needed an archive begins anew")
		b.forgetOrphans()
	}
	places, own, err := c.survey(ctx, b)
	if err != nil {
		b.forgetOrphans() // nobody knows what this look would have seen
		return b, nil, errors.Join(err, c.save(ctx, b))
	}
	if len(places) == 0 && len(b.stores) == 0 {
		return b, nil, nil
	}
	results := c.sweepAll(ctx, places, own, b)
	for id := range b.stores {
		if places[id] == nil {
			results = append(results, result{id: id, address: b.stores[id].Address, lost: true})
		}
	}
	for i := range results {
		c.note(&b, places[results[i].id], &results[i])
	}
	return b, results, c.save(ctx, b)
}

// survey finds the stores, and who looks at them.
func (c *Collector) survey(ctx context.Context, b book) (places map[string]*place, own string, err error) {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return nil, "", err
	}
	if places, err = c.places(ctx, workspaces, b.stores); err != nil || len(places) == 0 {
		return places, "", err
	}
	own, err = c.own(ctx)
	return places, own, err
}

// sweepAll goes through some stores at a time, in no order. What becomes of one says nothing of the
// others.
func (c *Collector) sweepAll(ctx context.Context, places map[string]*place, own string, b book) []result {
	allowed := permits(b.object.Annotations[AllowAnnotation])
	results := make([]result, 0, len(places))
	var lock sync.Mutex
	var group errgroup.Group
	group.SetLimit(storesAtOnce)
	for _, id := range slices.Sorted(maps.Keys(places)) {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, storeTimeout)
			defer cancel()
			r := c.sweep(ctx, places[id], own, b.stores[id], allowed[id])
			lock.Lock()
			defer lock.Unlock()
			results = append(results, r)
			return nil
		})
	}
	_ = group.Wait() // they return none
	slices.SortFunc(results, func(x, y result) int { return strings.Compare(x.address, y.address) })
	return results
}

// note writes into the book what became of a store.
func (c *Collector) note(b *book, p *place, r *result) {
	now := c.Clock.Now()
	e := b.stores[r.id]
	switch {
	case r.lost:
		if now.Sub(e.LookedAt) > forgetAfter {
			delete(b.stores, r.id)
		}
		return
	case r.err != nil && e.Address == "":
		return // never looked at: nothing to remember
	case r.err != nil:
		e.Orphans = nil // the two hours begin anew
	default:
		e.LookedAt, e.Orphans = now, remember(r.orphans)
	}
	e.Address, e.Secrets = p.address, slices.Sorted(maps.Keys(p.secrets))
	b.stores[r.id] = e
	if r.err == nil && !p.named && r.all == r.deleted {
		delete(b.stores, r.id) // nothing is left there, and nobody names it
	}
	if r.deleted > 0 {
		use(b.object, r.id)
	}
}

// record sets the metrics. What failed before any store was looked at counts as one that failed.
func record(results []result, err error) {
	stores := metrics.ArchiveStores{}
	if err != nil {
		stores.Failed++
	}
	orphans := 0
	for i := range results {
		orphans += len(results[i].orphans)
		metrics.RecordArchivesDeleted(results[i].deleted, results[i].ended)
		switch r := &results[i]; {
		case r.lost:
			stores.Lost++
		case errors.Is(r.err, errForeign):
			stores.Foreign++
		case r.err != nil, r.undeleted != nil:
			stores.Failed++
		case r.refused != "":
			stores.Refused++
		default:
			stores.Done++
		}
	}
	metrics.RecordArchiveStores(stores, orphans)
}
