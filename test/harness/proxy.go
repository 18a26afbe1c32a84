package harness

import (
	"bytes"
	"context"
	"encoding/pem"
	"io"
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
	// Watch is true for a watch.
	Watch bool
	// Body is the body of a POST, in JSON or protobuf.
	Body string
}

// Is reports whether the request has the method and the end of the path.
func (r Request) Is(method, pathSuffix string) bool {
	return r.Method == method && strings.HasSuffix(r.Path, pathSuffix)
}

// Fault is called before a request is forwarded (after is false), and before its answer is returned (after is true). It may
// block or kill the client. If it panics with http.ErrAbortHandler, the connection is closed.
type Fault func(request Request, after bool)

// Proxy is between a manager and the API server. It records the requests and injects faults around them.
type Proxy struct {
	server *httptest.Server

	mu       sync.Mutex
	requests []Request
	fault    Fault
	broken   bool
}

// StartProxy starts a proxy to the cluster's API server. Clients use their own credentials.
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
			p.hit(response.Request.Context().Value(requestKey{}).(Request), true)
			return nil
		},
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.isBroken() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		known, err := request(r)
		if err != nil {
			panic(http.ErrAbortHandler) // the client is gone
		}
		p.record(known)
		p.hit(known, false)
		reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, known)))
	}))
	p.server.EnableHTTP2 = true
	p.server.StartTLS()
	return p, nil
}

// Close stops the proxy.
func (p *Proxy) Close() {
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

// requestKey is the key of a Request in the context of a forwarded request.
type requestKey struct{}

// request describes r. Its body can still be read afterwards.
func request(r *http.Request) (Request, error) {
	known := Request{Method: r.Method, Path: r.URL.Path, Watch: r.URL.Query().Get("watch") != ""}
	if r.Method != http.MethodPost {
		return known, nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body, known.Body = io.NopCloser(bytes.NewReader(body)), string(body)
	return known, err
}

// through returns config pointed at the proxy.
func (p *Proxy) through(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = p.server.URL
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	config.TLSClientConfig = rest.TLSClientConfig{CAData: certificate}
	return config
}
