package certs

import (
	"crypto/tls"
	"slices"
	"sync"
	"time"

	"kyklos.io/kyklos/internal/metrics"
)

// gate holds a new leaf back until the API servers are sure to accept it.
//
// The source in front of it switches to a new leaf the moment it is signed: by a
// CA that no bundle holds yet, when the CA has just changed, or with a NotBefore
// that a slower clock has not reached. The leaf before it is good for another
// third of its life, so there is time to wait.
type gate struct {
	// newest returns the last leaf issued, nil before the first.
	newest func() *tls.Certificate
	// published says whether the API servers accept what is served with the pair.
	published func(pair *tls.Certificate, now time.Time) bool
	// pace is how long a leaf must have been published before it is served.
	pace time.Duration

	mu     sync.Mutex
	served *tls.Certificate
	// waiting are the newest leaf, unless it is served, and those before it that
	// are published already: leaves that come faster than one in a pace must not
	// put each other off for ever.
	waiting []candidate
}

// candidate is a leaf that may be served next.
type candidate struct {
	pair  *tls.Certificate
	since time.Time // of publishing; zero while a bundle lacks its CA
}

// serve returns the leaf to serve at now, nil before the first is issued. It
// keeps no timer: every handshake, probe and watch event asks again.
func (g *gate) serve(now time.Time) *tls.Certificate {
	g.mu.Lock()
	defer g.mu.Unlock()

	newest := g.newest()
	if newest == nil || newest == g.served {
		g.waiting = nil
		return g.served
	}
	g.look(newest, now)
	if i := g.due(now); i >= 0 {
		g.served, g.waiting = g.waiting[i].pair, g.waiting[i+1:]
		metrics.RecordWebhookCertificate(g.served.Leaf.NotBefore, g.served.Leaf.NotAfter)
	}
	return g.served
}

// look brings waiting up to date.
func (g *gate) look(newest *tls.Certificate, now time.Time) {
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
// A leaf is as sure as it has been published for long, since some API server's watch or clock is behind, and
// as it has time left, since some clock is ahead; more than a pace makes it no surer. The surest is served,
// and the newest among equals. What is served was sure before: only its end counts.
func (g *gate) due(now time.Time) int {
	if g.served == nil {
		return len(g.waiting) - 1
	}
	best, most := -1, min(g.pace, g.served.Leaf.NotAfter.Sub(now))
	if g.waiting[0].since.IsZero() { // The newest is alone. If both are refused, it will not be for long.
		if most < 0 {
			best = 0
		}
		return best
	}
	if !g.published(g.served, now) {
		most = min(most, 0) // No better than what some API server does not know yet.
	}
	for i, next := range g.waiting {
		if next.since.IsZero() {
			continue
		}
		if sure := min(g.pace, now.Sub(next.since), next.pair.Leaf.NotAfter.Sub(now)); sure >= most {
			best, most = i, sure
		}
	}
	return best
}
