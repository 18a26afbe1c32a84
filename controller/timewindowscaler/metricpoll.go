package timewindowscaler

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/metrics"
)

// pollsAtOnce bounds the polls that wait for an answer. A metrics API that hangs then takes a part only
// of the streams and of the fair share that the API server gives one client, and flips keep the rest.
const pollsAtOnce = 32

// pollPatience bounds one poll, and the wait for the end of the first, in which nothing is changed.
const pollPatience = 5 * time.Second

// metricPoller polls the metrics of the windows that decide now, each at most once per interval, and
// wakes its scaler after each poll. Passes read only what it remembers, so that a metrics API that
// hangs holds up neither worker nor boundary.
type metricPoller struct {
	interval time.Duration
	// read returns the sum of a metric's values, in thousandths.
	read func(context.Context, metricSource) (int64, error)
	// wake puts scalers at the head of the queue.
	wake func(...types.NamespacedName)

	mu     sync.Mutex
	polls  map[types.NamespacedName]*poll
	values uint64 // how many values there were in all
	slots  chan struct{}
	all    sync.WaitGroup
	closed bool
}

// poll is the polling for one scaler.
type poll struct {
	sample metricSample
	stop   context.CancelFunc
	kind   string // of the problem
}

// Start waits for ctx to end and then ends all polling.
func (p *metricPoller) Start(ctx context.Context) error {
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

// sample returns what is known of the metric that is polled for a scaler.
func (p *metricPoller) sample(key types.NamespacedName) metricSample {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.polls[key]; one != nil {
		return one.sample
	}
	return metricSample{}
}

// follow makes source, and nothing else, be polled for a scaler; nil for nothing. A source that is new
// is polled at once.
func (p *metricPoller) follow(key types.NamespacedName, source *metricSource) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.polls[key]; one != nil {
		if source != nil && one.sample.source == *source {
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
	one := &poll{sample: metricSample{source: *source}, stop: stop}
	p.polls[key] = one
	p.all.Go(func() { p.run(ctx, key, one) })
}

// drop ends the polling for a scaler. The caller holds the lock.
func (p *metricPoller) drop(key types.NamespacedName) {
	p.polls[key].stop()
	delete(p.polls, key)
}

// run polls until ctx ends.
func (p *metricPoller) run(ctx context.Context, key types.NamespacedName, one *poll) {
	impatience := time.AfterFunc(pollPatience, func() { p.update(key, one, func() {}) })
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
		next.Reset(p.interval)
		value, err := p.once(ctx, one.sample.source)
		<-p.slots
		impatience.Stop()
		p.update(key, one, func() { p.learn(key, one, value, err) })
	}
}

func (p *metricPoller) once(ctx context.Context, source metricSource) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, pollPatience)
	defer cancel()
	return p.read(ctx, source)
}

// update changes what is known of a poll, unless it was ended meanwhile, and wakes the scaler.
func (p *metricPoller) update(key types.NamespacedName, one *poll, change func()) {
	p.mu.Lock()
	if p.polls[key] != one {
		p.mu.Unlock()
		return
	}
	one.sample.answered = true
	change()
	p.mu.Unlock()
	p.wake(key)
}

// learn takes the outcome of a poll. The text of a problem stays while its kind does: texts differ from
// poll to poll, and conditions must not. A poll that the API server itself did not answer is no miss:
// nothing can be scaled then either, and the metric may be well.
func (p *metricPoller) learn(key types.NamespacedName, one *poll, value int64, err error) {
	if err == nil {
		p.values++
		one.sample.value, one.sample.number, one.sample.misses, one.sample.problem, one.kind = value, p.values, 0, "", ""
		return
	}
	if isUnanswered(err) {
		return
	}
	one.sample.misses++
	metrics.RecordExternalMetricMiss(key.Name, key.Namespace, one.sample.source.name)
	if kind := failureReason(err); one.sample.problem == "" || kind != one.kind {
		one.sample.problem, one.kind = describeMiss(err), kind
	}
}
