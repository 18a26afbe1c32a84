package certs

import (
	"crypto/tls"
	"slices"
	"sync"
	"time"

	"kyklos.io/kyklos/internal/metrics"
)

// gate holds back a new leaf until the API servers are certain to accept it.
//
// The source switches to a new leaf as soon as it is signed: possibly by a new CA that no bundle holds yet, or with a
// NotBefore that a slower clock has not reached. The previous leaf is valid for another third of its life, so there is
// time to wait.
type gate struct {
	// newest returns the last leaf issued, nil before the first.
	newest func() *tls.Certificate
	// published reports whether the API servers accept the pair.
	published func(pair *tls.Certificate, now time.Time) bool
	// pace is how long a leaf must have been published before it is served.
	pace time.Duration

	mu     sync.Mutex
	served *tls.Certificate
	// waiting are the newest leaf, unless it is served, and earlier published ones: leaves that are issued faster than
	// one per pace must not delay each other for ever.
	waiting []candidate
}

// candidate is a leaf that may be served next.
type candidate struct {
	pair  *tls.Certificate
	since time.Time // of publishing; zero while a bundle lacks its CA
}

// serve returns the leaf to serve at now, nil before the first is issued. It needs no timer: every handshake, probe and
// watch event calls it.
func (g *gate) serve(now time.Time) *tls.Certificate {
	g.mu.Lock()
	defer g.mu.Unlock()

	newest := g.newest()
	if newest == nil || newest == g.served {
		g.waiting = nil
		return g.served
	}
	g.update(newest, now)
	if i := g.due(now); i >= 0 {
		g.served, g.waiting = g.waiting[i].pair, g.waiting[i+1:]
		metrics.RecordWebhookCertificate(g.served.Leaf.NotBefore, g.served.Leaf.NotAfter)
	}
	return g.served
}

// update updates waiting.
func (g *gate) update(newest *tls.Certificate, now time.Time) {
	if last := len(g.waiting) - 1; last < 0 || g.waiting[last].pair != newest {
		g.waiting = append(g.waiting, candidate{pair: newest})
	}
	for i := range g.waiting {
		switch c := &g.waiting[i]; {
		case !g.published(c.pair, now):
			c.since = time.Time{}
		case c.since.IsZero() || c.since.After(now): // new, or the clock was set back
			c.since = now
		}
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(c candidate) bool { return c.since.IsZero() && c.pair != newest })
}

// due returns the index of the waiting leaf that should be served instead, -1 for none.
//
// The margin of a leaf is the time since it was published, as an API server's watch or clock may be behind, or the time
// it has left, as a clock may be ahead, whichever is less; at most a pace. The leaf with the largest margin is served,
// the newest among equals. For the served leaf only the time left counts.
func (g *gate) due(now time.Time) int {
	if g.served == nil {
		return len(g.waiting) - 1
	}
	best, most := -1, min(g.pace, g.served.Leaf.NotAfter.Sub(now))
	if g.waiting[0].since.IsZero() { // only the newest is left; both may be refused, but not for long
		if most < 0 {
			best = 0
		}
		return best
	}
	if !g.published(g.served, now) {
		most = min(most, 0) // no better than one that an API server does not know yet
	}
	for i, next := range g.waiting {
		if next.since.IsZero() {
			continue
		}
		if margin := min(g.pace, now.Sub(next.since), next.pair.Leaf.NotAfter.Sub(now)); margin >= most {
			best, most = i, margin
		}
	}
	return best
}
