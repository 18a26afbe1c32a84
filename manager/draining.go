package manager

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// drainPeriod is how long webhooks are answered after the manager was told to stop. API servers call them
// over connections that they keep; one that is used within this time ends after an answer, and not while
// the next call is on its way.
const drainPeriod = 3 * time.Second

// drainingServer goes on serving for a while when the manager stops, and does not hold up the rest of it: the
// Lease is given back at once.
type drainingServer struct {
	webhook.Server
	leaving atomic.Bool
	ended   chan struct{}
}

func newDrainingServer(inner webhook.Server) *drainingServer {
	return &drainingServer{Server: inner, ended: make(chan struct{})}
}

// Register implements webhook.Server.
func (d *drainingServer) Register(path string, hook http.Handler) {
	d.Server.Register(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.leaving.Load() {
			w.Header().Set("Connection", "close") // HTTP/2 says GOAWAY instead
		}
		hook.ServeHTTP(w, r)
	}))
}

// Start implements manager.Runnable. It returns when ctx ends; wait for drained then.
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
		d.leaving.Store(true)
		time.AfterFunc(drainPeriod, stop)
		return nil
	}
}

// drained returns when no webhook is answered any more.
func (d *drainingServer) drained() {
	if d.leaving.Load() {
		<-d.ended
	}
}
