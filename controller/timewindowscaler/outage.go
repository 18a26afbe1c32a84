package timewindowscaler

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// probeInterval is how often the API server is asked whether it is back, while it is away.
const probeInterval = time.Second

// outage wakes the scalers whose passes failed as soon as the API server is back, so that every
// due flip happens within seconds of its return, however long the back-off has grown (B10). It asks
// only while there is someone to wake.
type outage struct {
	// probe asks the API server whether it is ready.
	probe func(context.Context) error
	// wake puts scalers at the head of the queue.
	wake func(...types.NamespacedName)
	// ticks is a ticker's channel.
	ticks <-chan time.Time

	mu      sync.Mutex
	waiting map[types.NamespacedName]bool // true: it is known that the API server was away
}

// failed says that a pass over a scaler failed. unreachable is true if the API server did not
// answer; otherwise the scaler is woken only if the API server turns out to be away.
func (o *outage) failed(key types.NamespacedName, unreachable bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == nil {
		o.waiting = map[types.NamespacedName]bool{}
	}
	o.waiting[key] = o.waiting[key] || unreachable
}

// over says that a scaler needs no waking any more.
func (o *outage) over(key types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, key)
}

// Start probes until ctx ends.
func (o *outage) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.ticks:
			o.look(ctx)
		}
	}
}

func (o *outage) look(ctx context.Context) {
	if !o.anyWaiting() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*probeInterval)
	defer cancel()
	if err := o.probe(ctx); err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		for key := range o.waiting {
			o.waiting[key] = true
		}
		return
	}
	o.wake(o.recovered()...)
}

func (o *outage) anyWaiting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) > 0
}

// recovered empties the waiting and returns those for whom the API server was away. The others
// failed for a reason of their own and keep to their back-off.
func (o *outage) recovered() []types.NamespacedName {
	o.mu.Lock()
	defer o.mu.Unlock()
	var keys []types.NamespacedName
	for key, away := range o.waiting {
		if away {
			keys = append(keys, key)
		}
	}
	clear(o.waiting)
	return keys
}
