package scaling

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// requestLog records the controller's requests without watches.
type requestLog struct {
	mu   sync.Mutex
	sent []string
	// ofConfigMaps counts the bytes of answers about ConfigMaps, watches included.
	ofConfigMaps atomic.Int64
}

// sent records the controller's requests.
var sent requestLog

func (l *requestLog) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" {
			l.mu.Lock()
			l.sent = append(l.sent, request.Method+" "+request.URL.Path)
			l.mu.Unlock()
		}
		response, err := next.RoundTrip(request)
		if err == nil && strings.Contains(request.URL.Path, "/configmaps") {
			response.Body = &countedBody{response.Body, &l.ofConfigMaps}
		}
		return response, err
	})
}

type countedBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (b *countedBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	b.bytes.Add(int64(n))
	return n, err
}

// about returns the requests whose path contains part.
func (l *requestLog) about(part string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, request := range l.sent {
		if strings.Contains(request, part) {
			found = append(found, request)
		}
	}
	return found
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
