package harness

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Request is one request that went through a Proxy.
type Request struct {
	Method string
	// Path is without the query.
	Path string
	// Query is what follows the path.
	Query string
	// Watch is true for a watch.
	Watch bool
	// Body is the body of a write, in JSON or protobuf.
	Body string
	// Verb and the fields below are those of authorization, for example patch, apps, deployments, scale.
	Verb, Group, Resource, Subresource, Namespace, Name string
	UserAgent                                           string
	// At is when it arrived.
	At time.Time
	// Code is the status code of the API server's answer. It is 0 if it got no request or has not answered.
	Code int
}

// Is reports whether the request has the method and the end of the path.
func (r Request) Is(method, pathSuffix string) bool {
	return r.Method == method && strings.HasSuffix(r.Path, pathSuffix)
}

// resolver knows the paths of an API server.
var resolver = apirequest.RequestInfoFactory{APIPrefixes: map[string]sets.Empty{"api": {}, "apis": {}}, GrouplessAPIPrefixes: map[string]sets.Empty{"api": {}}}

// newRequest describes r. Its body can still be read afterwards.
func newRequest(r *http.Request) (*Request, error) {
	info, err := resolver.NewRequestInfo(r)
	if err != nil {
		return nil, err
	}
	known := &Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Watch: info.Verb == "watch", UserAgent: r.UserAgent(), At: time.Now(),
		Verb: info.Verb, Group: info.APIGroup, Resource: info.Resource, Subresource: info.Subresource, Namespace: info.Namespace, Name: info.Name,
	}
	if r.Body == nil || r.Method == http.MethodGet {
		return known, nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body, known.Body = io.NopCloser(bytes.NewReader(body)), string(body)
	return known, err
}

// requestKey is the key of a *Request in the context of a request.
type requestKey struct{}

func requestOf(r *http.Request) *Request { return r.Context().Value(requestKey{}).(*Request) }
