package workspace

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// storeGate puts the gate in front of a store and returns where it is reached. Movers are known by their
// tickets: their requests are signed in the URL.
func storeGate(t *testing.T, g *gate, b *books, store *harness.ObjectStore) (endpoint string) {
	t.Helper()
	upstream, err := url.Parse(store.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // it would be a header that nobody signed
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Host = r.In.Host // which is signed
		},
		Transport: transport,
		ModifyResponse: func(response *http.Response) error {
			if name, m := storeRequest(b, response.Request); name != "" {
				m.after = true
				g.request(name, m)
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, m := storeRequest(b, r); name != "" {
			g.request(name, m)
		}
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		g.open(nil)
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return server.URL
}

// storeRequest says whose archive a request is about, and what it does to it; "" if to none.
func storeRequest(b *books, r *http.Request) (name string, m moment) {
	_, key, _ := strings.Cut(r.URL.Path, "/archives/")
	uid, object, _ := strings.Cut(key, "/")
	if name = b.nameOf(uid); name == "" || object == "" {
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
