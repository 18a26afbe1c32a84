package s3store

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/archive"
)

// What a proxy, an ingress or a login page answers says nothing about a bucket or an object (W102).
func TestWhatIsNoStore(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if kind != "" {
				w.Header().Set("Content-Type", kind)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"nginx":      answer(404, "text/html", "<html><head><title>404 Not Found</title></head><body><hr></body></html>"),
		"an ingress": answer(404, "text/plain; charset=utf-8", "404 page not found\n"),
		"no route":   answer(404, "", ""),
		"a portal":   answer(200, "text/html; charset=utf-8", "<!DOCTYPE html><html><body>Log in<br></body></html>"),
		"a firewall": answer(403, "text/html", "<html><body>Blocked<br></body></html>"),
		"other JSON": answer(404, "application/json", `{"error":"not found"}`),
	} {
		t.Run(name, func(t *testing.T) {
			store := newHostile(t, handler)
			_, head := store.Head(t.Context(), "archives/a")
			_, _, get := store.Get(t.Context(), "archives/a")
			var list error
			for _, err := range store.List(t.Context(), archive.Root) {
				list = err
			}
			for what, err := range map[string]error{"HeadBucket": store.HeadBucket(t.Context()), "Head": head, "Get": get, "List": list} {
				if !errors.Is(err, archive.ErrUnreachable) || errors.Is(err, archive.ErrBucketMissing) || errors.Is(err, archive.ErrNotFound) || !strings.Contains(err.Error(), "what answers is no S3 store") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// A store that does not know HEAD on buckets still has one if it lists it.
func TestABucketThatIsListed(t *testing.T) {
	store := newHostile(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, listing+"</ListBucketResult>")
	})
	if err := store.HeadBucket(t.Context()); err != nil {
		t.Error(err)
	}
}
