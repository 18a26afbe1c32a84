package extmetric

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/internal/metrics"
)

// pollsAtOnce bounds the polls in flight. A metrics API that hangs then takes only a part of the streams
// and of the fair share that the API server gives one client, and scaling keeps the rest.
const pollsAtOnce = 32

// pollTimeout bounds one poll, and the wait for the first, during which nothing is changed.
const pollTimeout = 5 * time.Second

// Poller polls the metrics of the windows that decide now, each at most once per interval, and wakes its
// scaler after each poll. Passes read only what it remembers, so that a metrics API that hangs delays
// neither a worker nor a boundary.
type Poller struct {
	Interval time.Duration
	// Read returns the sum of a metric's values, in thousandths.
	Read func(context.Context, Source) (int64, error)
	// Wake puts scalers at the head of the queue.
	Wake func(...types.NamespacedName)

	mu     sync.Mutex
	polls  map[types.NamespacedName]*poll
	values uint64 // how many values there were in all
	slots  chan struct{}
	all    sync.WaitGroup
	closed bool
}

// poll is the polling for one scaler.
type poll struct {
	Sample
	stop context.CancelFunc
	kind string // of the problem
}

// Start waits for ctx to end and then ends all polling.
func (p *Poller) Start(ctx context.Context) error {
	<-ctx.Done()
	p.mu.Lock()
	p.closed = true
	for key := range p.polls {
		p.drop(key)
	}
	p.mu.Unlock()
	p.all.Wait()
	return nil
}

// Sample returns the state of the metric that is polled for a scaler.
func (p *Poller) Sample(key types.NamespacedName) Sample {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.polls[key]; one != nil {
		return one.Sample
	}
	return Sample{}
}

// Follow sets the source that is polled for a scaler; nil for none. A new source is polled at once.
func (p *Poller) Follow(key types.NamespacedName, source *Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.polls[key]; one != nil {
		if source != nil && one.Source == *source {
			return
		}
		p.drop(key)
	}
	if source == nil || p.closed {
		return
	}
	if p.polls == nil {
		p.polls, p.slots = map[types.NamespacedName]*poll{}, make(chan struct{}, pollsAtOnce)
	}
	ctx, stop := context.WithCancel(context.Background())
	one := &poll{Sample: Sample{Source: *source}, stop: stop}
	p.polls[key] = one
	p.all.Go(func() { p.run(ctx, key, one) })
}

// drop ends the polling for a scaler. The caller holds the lock.
func (p *Poller) drop(key types.NamespacedName) {
	p.polls[key].stop()
	delete(p.polls, key)
}

// run polls until ctx ends.
func (p *Poller) run(ctx context.Context, key types.NamespacedName, one *poll) {
	impatience := time.AfterFunc(pollTimeout, func() { p.update(key, one, func() {}) })
	defer impatience.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		select {
		case <-ctx.Done():
			return
		case p.slots <- struct{}{}:
		}
		next.Reset(p.Interval)
		value, err := p.once(ctx, one.Source)
		<-p.slots
		impatience.Stop()
		p.update(key, one, func() { p.learn(key, one, value, err) })
	}
}

func (p *Poller) once(ctx context.Context, source Source) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	return p.Read(ctx, source)
}

// update stores the result of a poll, unless polling has ended since, and wakes the scaler.
func (p *Poller) update(key types.NamespacedName, one *poll, change func()) {
	p.mu.Lock()
	if p.polls[key] != one {
		p.mu.Unlock()
		return
	}
	one.Answered = true
	change()
	p.mu.Unlock()
	p.Wake(key)
}

// learn records the outcome of a poll. The text of a problem stays while its kind does: texts differ from
// poll to poll, and conditions must not. A poll that the API server itself did not answer is not a miss:
// nothing can be scaled then either, and the metric may be fine.
func (p *Poller) learn(key types.NamespacedName, one *poll, value int64, err error) {
	if err == nil {
		p.values++
		one.Value, one.Number, one.Misses, one.Problem, one.kind = value, p.values, 0, "", ""
		return
	}
	if isUnanswered(err) {
		return
	}
	one.Misses++
	metrics.RecordExternalMetricMiss(key.Name, key.Namespace, one.Source.Name)
	if kind := failure.Reason(err); one.Problem == "" || kind != one.kind {
		one.Problem, one.kind = describeMiss(err), kind
	}
}
