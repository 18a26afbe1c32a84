package manager

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// errFenced refuses a write of a leader that could not renew its Lease in time.
var errFenced = errors.New("this replica has not renewed its Lease in time, and another one may lead: it writes nothing until it has")

// fence is the Lease of a leader. It refuses the leader's writes once the Lease was not renewed for its duration. A process that
// was frozen takes renewDeadline to find that it lost its Lease, and would write side by side with the new leader until then.
type fence struct {
	resourcelock.Interface
	// elapsed is the time since some start. Steps of the wall clock do not touch it.
	elapsed func() time.Duration

	mu sync.Mutex
	// held: this process led at least once.
	held bool
	// renewed is when the last renewal that succeeded was sent.
	renewed time.Duration
}

// Create implements resourcelock.Interface.
func (f *fence) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.renew(record, func() error { return f.Interface.Create(ctx, record) })
}

// Update implements resourcelock.Interface.
func (f *fence) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return f.renew(record, func() error { return f.Interface.Update(ctx, record) })
}

func (f *fence) renew(record resourcelock.LeaderElectionRecord, send func() error) error {
	sent := f.elapsed()
	if err := send(); err != nil {
		return err
	}
	if record.HolderIdentity == f.Identity() { // otherwise it was released
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held, f.renewed = true, sent
	}
	return nil
}

// expired reports whether another replica may lead. It is false in a process that never led: what that writes does not depend
// on the Lease, for example webhook certificates.
func (f *fence) expired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held && f.elapsed()-f.renewed >= leaseDuration
}

// guarded returns the configuration of clients whose writes the fence can refuse.
func (f *fence) guarded(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(f.transport)
	return config
}

func (f *fence) transport(next http.RoundTripper) http.RoundTripper {
	return fencedTransport{f, next}
}

type fencedTransport struct {
	fence *fence
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t fencedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !writes(request) || !t.fence.expired() {
		return t.next.RoundTrip(request)
	}
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return nil, errFenced
}

// writes reports whether a request changes objects. Reviews of tokens and of permissions change none, and webhooks need them
// in every replica.
func writes(request *http.Request) bool {
	return request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "reviews")
}
