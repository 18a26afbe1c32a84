package controlplane

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// Request is one request that went through a Proxy.
type Request struct {
	Method string
	// Path is without the query.
	Path string
	// Watch is true for a watch, which lasts.
	Watch bool
}

// Is reports whether the request has the method and a path that ends so.
func (r Request) Is(method, pathSuffix string) bool {
	return r.Method == method && strings.HasSuffix(r.Path, pathSuffix)
}

// Fault is called around a request: before it is passed on (after false), and when its answer is
// here but not yet passed back (after true). It may block, and it may end the client.
type Fault func(request Request, after bool)

// Proxy stands between the manager and the API server, counts what it is asked, and can hit
// the manager in the middle of a request.
type Proxy struct {
	server *httptest.Server

	mu       sync.Mutex
	requests []Request
	fault    Fault
	broken   bool
}

// StartProxy starts a proxy to the cluster's API server. Who uses it brings its own credentials.
func (c *Cluster) StartProxy() (*Proxy, error) {
	upstream, err := url.Parse(c.Config.Host)
	if err != nil {
		return nil, err
	}
	anonymous := rest.AnonymousClientConfig(c.Config)
	transport, err := rest.TransportFor(anonymous)
	if err != nil {
		return nil, err
	}
	p := &Proxy{}
	reverse := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport:     transport,
		FlushInterval: -1, // watches
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ModifyResponse: func(response *http.Response) error {
			p.hit(request(response.Request), true)
			return nil
		},
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.isBroken() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		p.record(request(r))
		p.hit(request(r), false)
		reverse.ServeHTTP(w, r)
	}))
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	return p, nil
}

// Close ends the proxy.
func (p *Proxy) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Inject sets what happens around each request from now on; nil for nothing.
func (p *Proxy) Inject(fault Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

// Break makes the API server unreachable, watches included, until it is mended again.
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

// Forget empties the record.
func (p *Proxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// Requests returns the record of those that keep returns true for.
func (p *Proxy) Requests(keep func(Request) bool) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kept []Request
	for _, r := range p.requests {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

func (p *Proxy) record(r Request) {
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

func request(r *http.Request) Request {
	return Request{Method: r.Method, Path: r.URL.Path, Watch: r.URL.Query().Get("watch") != ""}
}

// through returns config pointed at the proxy.
func (p *Proxy) through(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = p.server.URL
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	config.TLSClientConfig = rest.TLSClientConfig{CAData: certificate}
	return config
}
