package certs

import (
	"crypto/tls"
	"crypto/x509"
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
	// published says whether every caBundle trusts the leaf.
	published func(leaf *x509.Certificate, now time.Time) bool
	// pace is how long a leaf must have been published before it is served.
	pace time.Duration

	mu             sync.Mutex
	served, next   *tls.Certificate
	publishedSince time.Time // of next; zero while a bundle lacks its CA
}

// serve returns the leaf to serve at now, nil before the first is issued. It
// keeps no timer: every handshake, probe and watch event asks again.
func (g *gate) serve(now time.Time) *tls.Certificate {
	g.mu.Lock()
	defer g.mu.Unlock()

	newest := g.newest()
	if newest == nil || newest == g.served {
		return g.served
	}
	if newest != g.next {
		g.next, g.publishedSince = newest, time.Time{}
	}
	switch published := g.published(newest.Leaf, now); {
	case !published:
		g.publishedSince = time.Time{}
	case g.publishedSince.IsZero():
		g.publishedSince = now
	}
	if g.served == nil || g.turn(now) {
		g.served = newest
		metrics.RecordWebhookCertificateExpiry(newest.Leaf.NotAfter)
		metrics.RecordWebhookCertificateStart(newest.Leaf.NotBefore)
	}
	return g.served
}

// turn says whether next should replace the leaf that is served.
func (g *gate) turn(now time.Time) bool {
	left := g.served.Leaf.NotAfter.Sub(now)
	if g.publishedSince.IsZero() {
		return left < 0 // Both are refused; next will not be for long.
	}
	// A leaf about to end may already have ended by a faster clock.
	return left < g.pace || now.Sub(g.publishedSince) >= g.pace
}
