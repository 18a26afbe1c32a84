package manager

import (
	"net/http"
	"strings"

	"golang.org/x/sync/semaphore"
)

// eventsAtOnce is how many events are sent at a time. client-go has a goroutine for each event. Without a limit, after a storm of
// ten thousand changes, the API server refuses most requests of all kinds for now, and each is sent again and again.
const eventsAtOnce = 8

// limitEvents returns a wrapper for the transports of one process. Other requests than those that write events do not wait.
func limitEvents() func(http.RoundTripper) http.RoundTripper {
	places := semaphore.NewWeighted(eventsAtOnce)
	return func(next http.RoundTripper) http.RoundTripper { return limitedEvents{places, next} }
}

type limitedEvents struct {
	places *semaphore.Weighted
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (l limitedEvents) RoundTrip(request *http.Request) (*http.Response, error) {
	if !writesEvent(request) {
		return l.next.RoundTrip(request)
	}
	if err := l.places.Acquire(request.Context(), 1); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	defer l.places.Release(1)
	return l.next.RoundTrip(request)
}

func writesEvent(request *http.Request) bool {
	_, name, _ := strings.Cut(request.URL.Path, "/namespaces/")
	parts := strings.Split(name, "/")
	return request.Method != http.MethodGet && len(parts) > 1 && parts[1] == "events"
}
