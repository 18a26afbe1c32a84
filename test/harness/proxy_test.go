package harness

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const deployments = "/apis/apps/v1/namespaces/shop/deployments"

// server is an API server that counts requests, and whose watches have the events that the test sends.
type server struct {
	proxy  *Proxy
	client *http.Client
	served atomic.Int64
	events chan string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{events: make(chan string)}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("watch") {
			s.served.Add(1)
			_, _ = io.WriteString(w, "fine")
			return
		}
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "protobuf") {
			t.Errorf("the watch accepts %q", accept)
		}
		w.(http.Flusher).Flush()
		for {
			select {
			case name := <-s.events:
				fmt.Fprintf(w, `{"type":"MODIFIED","object":{"metadata":{"namespace":"shop","name":%q}}}`+"\n", name)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	at, err := url.Parse(upstream.URL)
	Must(t, err)
	s.proxy = startProxy(at, http.DefaultTransport)
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(func() {
		s.proxy.Close()
		upstream.CloseClientConnections()
		upstream.Close()
	})
	return s
}

// send returns the status code, or 0 without an answer.
func (s *server) send(t *testing.T, method, path string) (code int, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.proxy.server.URL+path, strings.NewReader(`{"spec":{}}`))
	Must(t, err)
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode, response.Header
}

// A request is recorded as authorization names it, with its body and the server's answer.
func TestProxyRecords(t *testing.T) {
	s := newServer(t)
	s.send(t, http.MethodPatch, deployments+"/web/scale")
	got := s.proxy.Requests(func(Request) bool { return true })[0]
	if got.At.IsZero() || !strings.Contains(got.UserAgent, "Go-http-client") {
		t.Errorf("got %+v", got)
	}
	got.At, got.UserAgent = time.Time{}, ""
	want := Request{
		Method: "PATCH", Path: deployments + "/web/scale", Body: `{"spec":{}}`, Verb: "patch", Group: "apps",
		Resource: "deployments", Subresource: "scale", Namespace: "shop", Name: "web", Code: 200,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestProxyActions(t *testing.T) {
	for _, c := range []struct {
		name       string
		action     Action
		code       int
		served     int64
		retryAfter string
	}{
		{"409", Answer(409), 409, 0, ""},
		{"429", AnswerRetryAfter(429, 1500*time.Millisecond), 429, 0, "2"},
		{"502", Answer(502), 502, 0, ""},
		{"delay", Delay(time.Millisecond), 200, 1, ""},
		{"drop", Drop(), 0, 0, ""},
		{"lost answer", LoseAnswer(), 0, 1, ""},
	} {
		s := newServer(t)
		rule := s.proxy.Add(Rule{Match: Match{Verbs: WriteVerbs, Resource: "deployments"}, Action: c.action})
		code, header := s.send(t, http.MethodPatch, deployments+"/web/scale")
		if code != c.code || s.served.Load() != c.served || header.Get("Retry-After") != c.retryAfter || rule.Hits() != 1 {
			t.Errorf("%s: got code %d, %d requests served, Retry-After %q, %d hits; want %d, %d, %q, 1",
				c.name, code, s.served.Load(), header.Get("Retry-After"), rule.Hits(), c.code, c.served, c.retryAfter)
		}
		if code, _ := s.send(t, http.MethodGet, deployments+"/web"); code != 200 {
			t.Errorf("%s: a read is answered with %d", c.name, code)
		}
		rule.Remove()
		if code, _ := s.send(t, http.MethodPatch, deployments+"/web/scale"); code != 200 {
			t.Errorf("%s: after the rule a write is answered with %d", c.name, code)
		}
	}
}

// What a rule holds ends with it: a hanging request without an answer, a held one with the server's.
func TestProxyHoldsRequests(t *testing.T) {
	for _, c := range []struct {
		action Action
		code   int
	}{{Hang(), 0}, {Hold(), 200}} {
		s := newServer(t)
		rule := s.proxy.Add(Rule{Action: c.action})
		answer := make(chan int)
		go func() {
			code, _ := s.send(t, http.MethodGet, deployments)
			answer <- code
		}()
		Until(t, "the request", func() bool { return rule.Hits() == 1 })
		if s.served.Load() != 0 {
			t.Error("the server got a request that should wait")
		}
		rule.Remove()
		if code := <-answer; code != c.code {
			t.Errorf("got code %d, want %d", code, c.code)
		}
	}
}

// A rule can hit some of the requests only: by number, or a share of them that only a seed decides.
func TestProxyHitsSome(t *testing.T) {
	s := newServer(t)
	s.proxy.Add(Rule{Match: Match{Subresource: NoSubresource, Name: "web"}, First: 2, Times: 2, Action: Answer(500)})
	var codes []int
	for range 4 {
		s.send(t, http.MethodPatch, deployments+"/web/scale")
		code, _ := s.send(t, http.MethodPatch, deployments+"/web")
		codes = append(codes, code)
	}
	if want := []int{200, 500, 500, 200}; !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
	share := func(seed uint64) (hits []bool) {
		p := &Proxy{counts: map[string]int{}, rules: []*Injection{{rule: Rule{Fraction: 0.3}}}}
		p.Seed(seed)
		for i := range 1000 {
			hits = append(hits, len(p.hitting(&Request{Verb: "patch", Path: fmt.Sprint(i % 10)})) > 0)
		}
		return hits
	}
	count := len(slices.DeleteFunc(share(1), func(hit bool) bool { return !hit }))
	if count < 250 || count > 350 || !slices.Equal(share(1), share(1)) || slices.Equal(share(1), share(2)) {
		t.Errorf("%d of 1000 are hit, want about 300; the same ones with the same seed: %v", count, slices.Equal(share(1), share(1)))
	}
}
