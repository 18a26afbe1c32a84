package chaos

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// storeGate puts the gate in front of a store and returns its endpoint. A request of a mover is signed in the URL.
func storeGate(t *testing.T, g *gate, l *ledger, store *harness.ObjectStore) (endpoint string) {
	t.Helper()
	upstream, err := url.Parse(store.Endpoint)
	harness.Must(t, err)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // it adds a header that is not signed
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Host = r.In.Host // it is signed
		},
		Transport: transport,
		ModifyResponse: func(response *http.Response) error {
			if name, m := storeRequest(l, response.Request); name != "" {
				m.after = true
				g.request(name, m)
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, m := storeRequest(l, r); name != "" {
			g.request(name, m)
		}
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		g.release(nil)
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return server.URL
}

// storeRequest returns the Workspace whose archive a request is about, and its moment. The name is empty if there is none.
func storeRequest(l *ledger, r *http.Request) (name string, m moment) {
	_, key, _ := strings.Cut(r.URL.Path, "/archives/")
	uid, object, _ := strings.Cut(key, "/")
	if name = l.nameOf(uid); name == "" || object == "" {
		return "", m
	}
	query := r.URL.Query()
	m = moment{actor: "manager", stored: true, reads: r.Method == http.MethodGet || r.Method == http.MethodHead}
	if query.Has("X-Amz-Signature") {
		m.actor = "mover"
	}
	target := "data"
	switch {
	case query.Has("partNumber"):
		target = "part"
	case query.Has("uploadId"), query.Has("uploads"):
		target = "upload"
	case strings.HasSuffix(object, ".meta"):
		target = "marker"
	case strings.HasSuffix(object, "/progress.json"):
		target = "note"
	}
	m.what = r.Method + " " + target
	return name, m
}
