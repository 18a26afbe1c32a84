package harness

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"

	"k8s.io/client-go/rest"
)

// Fault is called before a request is forwarded (after is false), and before its answer is returned (after is true). It may
// block or kill the client. If it panics with http.ErrAbortHandler, the connection is closed.
type Fault func(request Request, after bool)

// Proxy is between a manager and the API server. It records the requests and injects faults around them: with a Fault for
// every request, with Rules for some (see Add), and into watches (see HoldEvents, DelayEvents and EndWatches).
type Proxy struct {
	server *httptest.Server
	// closed ends what is still held.
	closed chan struct{}

	mu       sync.Mutex
	requests []*Request
	fault    Fault
	broken   bool
	rules    []*Injection
	seed     uint64
	// counts is how often each kind of request was drawn; see draw.
	counts  map[string]int
	holds   []*eventHold
	changed chan struct{} // closed and replaced when holds changes
	streams map[*stream]bool
}

// StartProxy starts a proxy to the cluster's API server. Clients use their own credentials.
func (c *Cluster) StartProxy() (*Proxy, error) {
	upstream, err := url.Parse(c.Config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(c.Config))
	if err != nil {
		return nil, err
	}
	return startProxy(upstream, transport), nil
}

func startProxy(upstream *url.URL, transport http.RoundTripper) *Proxy {
	p := &Proxy{closed: make(chan struct{}), counts: map[string]int{}, changed: make(chan struct{}), streams: map[*stream]bool{}}
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			if requestOf(r.In).Watch {
				inJSON(r.Out.Header)
			}
		},
		Transport:      transport,
		FlushInterval:  -1, // watches
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ModifyResponse: p.answered,
		ErrorLog:       log.New(io.Discard, "", 0), // of watches that a test ends
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.isBroken() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		known, err := newRequest(r)
		if err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		p.record(known)
		p.hit(*known, false)
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, known))
		p.through(w, r, func(w http.ResponseWriter) { reverse.ServeHTTP(w, r) })
	}))
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	return p
}

// answered is called with each answer of the API server.
func (p *Proxy) answered(response *http.Response) error {
	known := requestOf(response.Request)
	p.mu.Lock()
	known.Code = response.StatusCode
	p.mu.Unlock()
	p.hit(*known, true)
	if known.Watch && response.StatusCode == http.StatusOK {
		response.Body = p.newStream(response.Request.Context(), *known, response.Body)
	}
	return nil
}

// Close stops the proxy.
func (p *Proxy) Close() {
	close(p.closed)
	p.server.CloseClientConnections()
	p.server.Close()
}

// Inject sets the fault for all further requests. Nil removes it.
func (p *Proxy) Inject(fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// Break makes the API server unreachable, or reachable again. It also closes watches.
func (p *Proxy) Break(broken bool) {
	p.mu.Lock()
	p.broken = broken
	p.mu.Unlock()
	if broken {
		p.server.CloseClientConnections()
	}
}

func (p *Proxy) isBroken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}

// Forget deletes the recorded requests.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// Requests returns the recorded requests for which keep returns true.
func (p *Proxy) Requests(keep func(Request) bool) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kept []Request
	for _, r := range p.requests {
		if keep(*r) {
			kept = append(kept, *r)
		}
	}
	return kept
}

func (p *Proxy) record(r *Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
}

func (p *Proxy) hit(r Request, after bool) {
	p.mu.Lock()
	fault := p.fault
	p.mu.Unlock()
	if fault != nil {
		fault(r, after)
	}
}

// configure returns config pointed at the proxy.
func (p *Proxy) configure(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = p.server.URL
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	config.TLSClientConfig = rest.TLSClientConfig{CAData: certificate}
	return config
}
