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
	"kyklos.io/kyklos/internal/clockstep"
	"kyklos.io/kyklos/internal/events"
)

const (
	// poll is how often the wall clock is read; it may be set.
	poll = time.Minute
	// maxConcurrentStores bounds the stores processed in parallel, so that one that hangs does not delay all others.
	maxConcurrentStores = 4
	// storeTimeout bounds the work on one store, cycleTimeout a whole cycle.
	storeTimeout = 20 * time.Minute
	cycleTimeout = 4 * time.Hour
	// clockTolerance is how far the wall clock may drift before it counts as stepped. Two hours that are too short by
	// this do no harm.
	clockTolerance = time.Minute
)

// Collector deletes archives that no Workspace needs.
type Collector struct {
	Options
	// Live reads from the API server; Writer writes the ConfigMap.
	Live   client.Reader
	Writer client.Client
	// Open is connect.Open.
	Open   func(secret map[string][]byte, options connect.Options) (archive.Issuer, error)
	Events *events.Recorder
	Log    logr.Logger

	steps clockstep.Detector
}

// NeedLeaderElection makes it run only on the leader.
func (c *Collector) NeedLeaderElection() bool { return true }

// Start runs cycles until ctx ends. A new leader continues the previous one's interval.
func (c *Collector) Start(ctx context.Context) error {
	ticks := time.NewTicker(poll)
	defer ticks.Stop()
	last := c.lastCycle(ctx)
	c.clockStepped() // the first reading
	for {
		now := c.Clock.Now()
		last = clockstep.Earlier(last, now)
		if !now.Before(last.Add(c.Interval)) {
			last = now
			c.Cycle(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// lastCycle is when a store was last checked; the zero time if that is unknown.
func (c *Collector) lastCycle(ctx context.Context) (last time.Time) {
	ledger, err := c.loadLedger(ctx)
	if err != nil {
		return time.Time{} // the cycle reports it
	}
	for _, known := range ledger.stores {
		if known.LookedAt.After(last) {
			last = known.LookedAt
		}
	}
	return last
}

// clockStepped reports whether the wall clock was stepped, or the machine slept: how long an archive was unneeded is
// then unknown.
func (c *Collector) clockStepped() bool {
	if c.Monotonic == nil {
		return false
	}
	c.steps.Tolerance = clockTolerance
	return c.steps.Step(c.Clock.Now(), c.Monotonic()) != 0
}

// Cycle checks all stores once. See the package comment for the beats.
func (c *Collector) Cycle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cycleTimeout)
	defer cancel()
	l, results, err := c.cycle(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return // the manager is stopping
	}
	c.publish(&l, makeReport(results, c.Namespace, err))
}

// cycle returns the ledger and the result of each store. An error means that nothing was started, or that the ledger
// was not saved.
func (c *Collector) cycle(ctx context.Context) (ledger, []result, error) {
	l, err := c.loadLedger(ctx)
	if err != nil {
		return l, nil, err
	}
	if c.clockStepped() {
		c.Log.Info("The clock was stepped or the machine slept; the two hours restart for all unneeded archives")
		l.forgetOrphans()
	}
	stores, installation, err := c.survey(ctx, l)
	if err != nil {
		l.forgetOrphans() // what this cycle would have seen is unknown
		return l, nil, errors.Join(err, c.saveLedger(ctx, l))
	}
	if len(stores) == 0 && len(l.stores) == 0 {
		return l, nil, nil
	}
	results := c.collectAll(ctx, stores, installation, l)
	for id := range l.stores {
		if stores[id] == nil {
			results = append(results, result{store: &store{id: id, address: l.stores[id].Address}, lost: true})
		}
	}
	now := c.Clock.Now()
	for i := range results {
		l.update(&results[i], now)
	}
	return l, results, c.saveLedger(ctx, l)
}

// collectAll works on several stores at a time. The result of one has no effect on the others.
func (c *Collector) collectAll(ctx context.Context, stores map[string]*store, installation string, l ledger) []result {
	approved := approvals(l.object.Annotations[AllowAnnotation])
	results := make([]result, 0, len(stores))
	var lock sync.Mutex
	var group errgroup.Group
	group.SetLimit(maxConcurrentStores)
	secrets := map[string][]string{}
	for id, s := range stores {
		secrets[id] = slices.Collect(maps.Keys(s.secrets))
	}
	for _, id := range inTurn(secrets) {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, storeTimeout)
			defer cancel()
			r := c.collect(ctx, stores[id], installation, l.stores[id], approved[id])
			lock.Lock()
			defer lock.Unlock()
			results = append(results, r)
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	slices.SortFunc(results, func(x, y result) int { return strings.Compare(x.address, y.address) })
	return results
}

// collect is one pass over one store. known is what the ledger says about it; approved is how many archives may be
// deleted at once.
func (c *Collector) collect(ctx context.Context, s *store, installation string, known entry, approved int) result {
	obs, err := c.observe(ctx, s, installation)
	if err != nil {
		return result{store: s, err: err}
	}
	return c.act(ctx, obs, makePlan(obs, known, c.Interval, approved))
}
