package manager

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// drainPeriod is how long webhooks are served after the manager was stopped. API servers keep their connections; one that
// is used within this time is closed after an answer, and not while the next call is in flight.
const drainPeriod = 3 * time.Second

// drainingServer continues to serve for a while when the manager stops. It does not delay the rest: the Lease is released
// at once.
type drainingServer struct {
	webhook.Server
	draining atomic.Bool
	ended    chan struct{}
}

func newDrainingServer(inner webhook.Server) *drainingServer {
	return &drainingServer{Server: inner, ended: make(chan struct{})}
}

// Register implements webhook.Server.
func (d *drainingServer) Register(path string, hook http.Handler) {
	d.Server.Register(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.draining.Load() {
			w.Header().Set("Connection", "close") // HTTP/2 sends GOAWAY instead
		}
		hook.ServeHTTP(w, r)
	}))
}

// Start implements manager.Runnable. It returns when ctx ends; then wait with drained.
func (d *drainingServer) Start(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	failed := make(chan error, 1)
	go func() {
		defer close(d.ended)
		failed <- d.Server.Start(serving)
	}()
	select {
	case err := <-failed:
		stop()
		return err
	case <-ctx.Done():
		d.draining.Store(true)
		time.AfterFunc(drainPeriod, stop)
		return nil
	}
}

// drained returns when no webhook is served any more.
func (d *drainingServer) drained() {
	if d.draining.Load() {
		<-d.ended
	}
}
