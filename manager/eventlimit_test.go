package manager

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// So many events are under way at a time, and nothing else waits for them, nor do they wait longer than they are wanted.
func TestLimitEvents(t *testing.T) {
	const events, scale = "/apis/events.k8s.io/v1/namespaces/events/events", "/apis/apps/v1/namespaces/events/deployments/web/scale"
	arrived, answer := make(chan string, 100), make(chan struct{})
	limited := limitEvents()
	transport := func() http.RoundTripper { // one of several clients
		return limited(roundTripper(func(request *http.Request) (*http.Response, error) {
			arrived <- request.URL.Path
			if strings.HasSuffix(request.URL.Path, "/events") && request.Method == http.MethodPost {
				<-answer
			}
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}))
	}
	send := func(ctx context.Context, method, path string) error {
		response, err := transport().RoundTrip(httptest.NewRequestWithContext(ctx, method, path, strings.NewReader("{}")))
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	var all errgroup.Group
	for range 3 * eventsAtOnce {
		all.Go(func() error { return send(t.Context(), http.MethodPost, events) })
	}
	for range eventsAtOnce {
		<-arrived
	}
	given, giveUp := context.WithCancel(t.Context())
	giveUp()
	if err := send(given, http.MethodPost, events); err == nil {
		t.Error("an event that nobody waits for was sent")
	}
	for _, other := range []struct{ method, path string }{{http.MethodPatch, scale}, {http.MethodGet, events}} {
		if err := send(t.Context(), other.method, other.path); err != nil {
			t.Errorf("%s %s: %v", other.method, other.path, err)
		}
		if path := <-arrived; path != other.path {
			t.Errorf("%s was sent beside %d events", path, eventsAtOnce)
		}
	}
	close(answer)
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
	if left := len(arrived); left != 2*eventsAtOnce {
		t.Errorf("%d events were sent at the end, want %d", left, 2*eventsAtOnce)
	}
}
