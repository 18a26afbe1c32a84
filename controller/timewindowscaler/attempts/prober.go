package attempts

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// ProbeInterval is that of the ticks.
	ProbeInterval = time.Second
	// longestHeld is how long a probe that fails keeps work from trying again. The API server may answer
	// requests although it is not ready.
	longestHeld = 30 * time.Second
	// hangsAfter is when a request that is under way is a reason to probe.
	hangsAfter = 2 * time.Second
	// forgetLane is when a lane without work is forgotten.
	forgetLane = time.Hour
)

// Start wakes those whose turn it is until ctx ends. It probes only while something has failed or hangs.
func (a *Attempts) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.Ticks:
			a.Tick(ctx)
		}
	}
}

// Tick wakes those whose turn it is now.
func (a *Attempts) Tick(ctx context.Context) {
	wake, last, probe := a.review()
	a.wake(wake, last)
	if !probe {
		return
	}
	began := a.Elapsed()
	ctx, cancel := context.WithTimeout(ctx, 2*ProbeInterval)
	defer cancel()
	ready := a.Probe(ctx) == nil
	a.wake(a.probed(began, ready), nil)
	if ready {
		for _, send := range a.hanging() {
			send()
		}
	}
}

// review marks the lanes that are slow now, returns those for whom a lane has a place, and reports whether the
// API server should be probed.
func (a *Attempts) review() (wake, last []types.NamespacedName, probe bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.Elapsed()
	slow := map[*lane]bool{}
	for r := range a.requests {
		if a.took.isSlow(now - r.started) {
			slow[a.lane(r.lane)] = true
		}
		probe = probe || now-r.started >= hangsAfter
	}
	for l := range slow {
		a.change(l, l.slow)
	}
	for of, l := range a.lanes {
		wake = append(wake, a.next(l)...)
		if l.empty() && now-l.ended >= forgetLane {
			delete(a.lanes, of)
		}
	}
	a.turns.expire(now)
	first, last := a.call(now)
	return append(wake, first...), last, probe || len(a.ripe(now)) > 0
}

// probed returns those that may try again after a probe that began at a time. When the API server is back, what
// it was asked before is asked again: it may never answer.
func (a *Attempts) probed(began time.Duration, ready bool) []types.NamespacedName {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.Elapsed()
	if ready && a.away {
		for r := range a.requests {
			if r.started < began-hangsAfter {
				r.cancel(errBack)
			}
		}
	}
	a.away = !ready
	var wake []types.NamespacedName
	for _, c := range choose(a.ripe(now), perSecond) {
		if ready || now-c.last >= longestHeld {
			a.admit(c.id, a.entries[c.id])
			wake = append(wake, c.id.Scaler)
		}
	}
	return wake
}

// ripe returns what has waited long enough to try again. The lock is held.
func (a *Attempts) ripe(now time.Duration) []candidate {
	var candidates []candidate
	for of, l := range a.lanes {
		for id, e := range l.held {
			if now-e.last >= e.after {
				candidates = append(candidates, candidate{id, of, l.served, e.last})
			}
		}
	}
	return candidates
}
