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
	for i, next := range slices.Backward(g.waiting) {
		if g.served == nil || g.turn(next, now) {
			g.served, g.waiting = next.pair, g.waiting[i+1:]
			metrics.RecordWebhookCertificate(next.pair.Leaf.NotBefore, next.pair.Leaf.NotAfter)
			break
		}
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
		case c.since.IsZero():
			c.since = now
		}
	}
	g.waiting = slices.DeleteFunc(g.waiting, func(c candidate) bool { return c.since.IsZero() && c.pair != newest })
}

// turn says whether next should replace the leaf that is served.
func (g *gate) turn(next candidate, now time.Time) bool {
	left := g.served.Leaf.NotAfter.Sub(now)
	if next.since.IsZero() {
		// Both are refused; next will not be for long. Unless another is published.
		return left < 0 && len(g.waiting) == 1
	}
	// A leaf about to end may already have ended by a faster clock, and one that a bundle has lost is no
	// better than one that some API server does not know yet.
	return left < g.pace || now.Sub(next.since) >= g.pace || !g.published(g.served, now)
}
