package manager

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// stubServer serves nothing: it remembers its hooks and runs until its context ends, or fails.
type stubServer struct {
	webhook.Server
	hooks  map[string]http.Handler
	failed error
	ctx    chan context.Context
}

func (s *stubServer) Register(path string, hook http.Handler) { s.hooks[path] = hook }

func (s *stubServer) Start(ctx context.Context) error {
	if s.failed != nil {
		return s.failed
	}
	s.ctx <- ctx
	<-ctx.Done()
	return nil
}

// answerConnection is the Connection header of the response from the hook at /x.
func (s *stubServer) answerConnection() string {
	answer := httptest.NewRecorder()
	s.hooks["/x"].ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/x", nil))
	return answer.Header().Get("Connection")
}

func TestDraining(t *testing.T) {
	inner := &stubServer{hooks: map[string]http.Handler{}, ctx: make(chan context.Context, 1)}
	d := newDrainingServer(inner)
	d.Register("/x", http.NotFoundHandler())
	ctx, stop := context.WithCancel(t.Context())
	returned := make(chan error)
	go func() { returned <- d.Start(ctx) }()
	serving := <-inner.ctx
	if got := inner.answerConnection(); got != "" {
		t.Errorf("Connection: %q before the end", got)
	}
	stopped := time.Now()
	stop()
	if err := <-returned; err != nil || serving.Err() != nil {
		t.Errorf("Start returned %v and serving has ended (%v), want it to go on", err, serving.Err())
	}
	if got := inner.answerConnection(); got != "close" {
		t.Errorf("Connection: %q while draining, want close", got)
	}
	d.drained()
	if took := time.Since(stopped); serving.Err() == nil || took < drainPeriod {
		t.Errorf("drained after %s (%v), want %s at least", took, serving.Err(), drainPeriod)
	}
}

// A server that cannot start is not waited for.
func TestDrainingFailure(t *testing.T) {
	want := errors.New("port taken")
	d := newDrainingServer(&stubServer{failed: want})
	if err := d.Start(t.Context()); !errors.Is(err, want) {
		t.Errorf("Start: %v, want %v", err, want)
	}
	d.drained()
}
