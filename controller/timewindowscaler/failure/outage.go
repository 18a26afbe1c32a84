package failure

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// ProbeInterval is how often the API server is probed during an outage.
const ProbeInterval = time.Second

// Outage wakes the objects whose passes failed as soon as the API server is back, so that everything due
// happens within seconds, however long the back-off has grown (B10). It probes only while something waits.
type Outage struct {
	// Probe asks the API server whether it is ready.
	Probe func(context.Context) error
	// Wake puts objects at the head of the queue.
	Wake func(...types.NamespacedName)
	// Ticks is a ticker's channel.
	Ticks <-chan time.Time

	mu      sync.Mutex
	waiting map[types.NamespacedName]bool // true: the API server is known to have been away
}

// Failed records that a pass over an object failed. unreachable is true if the API server did not
// answer; otherwise the object is woken only if the API server turns out to be away.
func (o *Outage) Failed(key types.NamespacedName, unreachable bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting == nil {
		o.waiting = map[types.NamespacedName]bool{}
	}
	o.waiting[key] = o.waiting[key] || unreachable
}

// Over records that an object needs no waking any more.
func (o *Outage) Over(key types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, key)
}

// Start probes until ctx ends.
func (o *Outage) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-o.Ticks:
			o.check(ctx)
		}
	}
}

func (o *Outage) check(ctx context.Context) {
	if !o.Waiting() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*ProbeInterval)
	defer cancel()
	if err := o.Probe(ctx); err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		for key := range o.waiting {
			o.waiting[key] = true
		}
		return
	}
	o.Wake(o.Recovered()...)
}

// Waiting reports whether any object waits.
func (o *Outage) Waiting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) > 0
}

// Recovered empties the list and returns those for which the API server was away. The others failed for
// another reason and keep to their back-off.
func (o *Outage) Recovered() []types.NamespacedName {
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
