package presigned

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/archive"
)

var key = archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}

// fake answers as a broken network or store does; real S3 answers are tested with versitygw.
type fake struct {
	lock    sync.Mutex
	seen    []string
	answers []func(w http.ResponseWriter) // one each, then 200
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.lock.Lock()
	defer f.lock.Unlock()
	f.seen = append(f.seen, fmt.Sprintf("%s %s %s %d", r.Method, r.URL.RequestURI(), r.Header.Get("If-None-Match"), len(body)))
	if len(f.answers) > 0 {
		answer := f.answers[0]
		f.answers = f.answers[1:]
		answer(w)
		return
	}
	w.Header().Set("ETag", `"tag"`)
}

func status(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code); _, _ = io.WriteString(w, body) }
}

// page is what a proxy or a login page answers, and bare what an ingress does.
func page(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		status(code, "<html>nginx</html>")(w)
	}
}

func bare(w http.ResponseWriter) { status(404, "404 page not found")(w) }

func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// short promises more than it sends.
func short(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "10")
	_, _ = io.WriteString(w, "half")
}

func start(t *testing.T, answers ...func(http.ResponseWriter)) (*fake, *Store) {
	t.Helper()
	server := &fake{answers: answers}
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	url := listening.URL + "/?secret="
	store, err := New(archive.Ticket{Key: key.Data(), GetData: url + "1", GetMarker: url + "2", PutMarker: url + "3", Upload: &archive.Upload{
		PartSize: 4, Part: url + "4", Signatures: []string{"a", "b", "c"}, Complete: url + "5",
	}, Attempt: "op/1", PutNote: url + "6"})
	if err != nil {
		t.Fatal(err)
	}
	store.pause = time.Microsecond
	return server, store
}

func TestWhatIsSentAgain(t *testing.T) {
	const get, put = "GET /?secret=2  0", "PUT /?secret=3 * 5"
	busy, gone := status(503, "<Error><Code>SlowDown</Code></Error>"), status(412, "<Error><Code>PreconditionFailed</Code></Error>")
	for name, test := range map[string]struct {
		answers []func(http.ResponseWriter)
		want    error
		sent    int
	}{
		"at once":            {nil, nil, 1},
		"busy":               {[]func(http.ResponseWriter){busy, busy, busy}, nil, 4},
		"busy for good":      {[]func(http.ResponseWriter){busy, busy, busy, busy}, archive.ErrUnreachable, 4},
		"hung up":            {[]func(http.ResponseWriter){hangUp, hangUp}, nil, 3},
		"lost answer":        {[]func(http.ResponseWriter){hangUp, gone}, archive.ErrExists, 2},
		"refused":            {[]func(http.ResponseWriter){status(403, "<Error><Code>AccessDenied</Code></Error>")}, archive.ErrDenied, 1},
		"missing":            {[]func(http.ResponseWriter){status(404, "<Error><Code>NoSuchKey</Code></Error>")}, archive.ErrNotFound, 1},
		"missing bucket":     {[]func(http.ResponseWriter){status(404, "<Error><Code>NoSuchBucket</Code></Error>")}, archive.ErrBucketMissing, 1},
		"another's 404 page": {[]func(http.ResponseWriter){page(404), page(404), page(404), page(404)}, archive.ErrUnreachable, 4},
		"a login page":       {[]func(http.ResponseWriter){page(200), page(200), page(200), page(200)}, archive.ErrUnreachable, 4},
		"no code of S3":      {[]func(http.ResponseWriter){bare, bare, bare, bare}, archive.ErrUnreachable, 4},
		"redirected":         {[]func(http.ResponseWriter){status(307, ""), status(307, ""), status(307, ""), status(307, "")}, archive.ErrUnreachable, 4},
	} {
		t.Run(name, func(t *testing.T) {
			for want, do := range map[string]func(*Store) error{
				get: func(s *Store) error { _, err := s.Head(t.Context(), key.Marker()); return err },
				put: func(s *Store) error { return s.Put(t.Context(), key.Marker(), []byte("hello")) },
			} {
				server, store := start(t, test.answers...)
				err := do(store)
				if !errors.Is(err, test.want) {
					t.Errorf("%v, want %v", err, test.want)
				}
				if err != nil && strings.Contains(err.Error(), "secret") {
					t.Errorf("the error holds the URL: %v", err)
				}
				for _, sent := range server.seen {
					if sent != want && !strings.Contains(want, "PUT") {
						t.Errorf("sent %s, want %s", sent, want)
					}
				}
				if len(server.seen) < test.sent {
					t.Errorf("sent %d times, want %d", len(server.seen), test.sent)
				}
			}
		})
	}
}

func TestAnEndTooEarlyIsNoEnd(t *testing.T) {
	_, store := start(t, short)
	body, object, err := store.Get(t.Context(), key.Data())
	if err != nil || object.Size != 10 {
		t.Fatalf("%+v, %v", object, err)
	}
	defer body.Close()
	if got, err := io.ReadAll(body); !errors.Is(err, archive.ErrUnreachable) {
		t.Errorf("%q, %v, want ErrUnreachable", got, err)
	}
}

func TestPartsArePutTogether(t *testing.T) {
	server, store := start(t)
	if err := store.PutStream(t.Context(), key.Data(), strings.NewReader("0123456789")); err != nil {
		t.Fatal(err)
	}
	last := server.seen[len(server.seen)-1]
	list := completion([]string{`"tag"`, `"tag"`, `"tag"`})
	if want := fmt.Sprintf("POST /?secret=5 * %d", len(list)); last != want || len(server.seen) != 4 {
		t.Errorf("%v, want the last to be %s", server.seen, want)
	}
	if err := xml.Unmarshal(list, new(struct{})); err != nil || !bytes.Contains(list, []byte("<Part><PartNumber>3</PartNumber><ETag>")) {
		t.Errorf("%v: %s", err, list)
	}
	want := map[string]bool{"PUT /?secret=4&partNumber=1&X-Amz-Signature=a  4": true, "PUT /?secret=4&partNumber=2&X-Amz-Signature=b  4": true, "PUT /?secret=4&partNumber=3&X-Amz-Signature=c  2": true}
	got := map[string]bool{}
	for _, sent := range server.seen[:3] {
		got[sent] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestACompletionThatFailsLate(t *testing.T) {
	ok := func(http.ResponseWriter) {}
	for name, test := range map[string]struct {
		answers []func(http.ResponseWriter)
		want    error
	}{
		"after 200":               {[]func(http.ResponseWriter){ok, status(200, "<?xml version=\"1.0\"?>\n\n<Error><Code>InternalError</Code></Error>")}, archive.ErrUnreachable},
		"another writer, late":    {[]func(http.ResponseWriter){ok, status(200, "<Error><Code>PreconditionFailed</Code></Error>")}, archive.ErrExists},
		"cut":                     {[]func(http.ResponseWriter){ok, short}, archive.ErrUnreachable},
		"lost answer, and object": {[]func(http.ResponseWriter){ok, hangUp, status(404, "<Error><Code>NoSuchUpload</Code></Error>"), status(404, "<Error><Code>NoSuchUpload</Code></Error>"), status(404, "<Error><Code>NoSuchUpload</Code></Error>")}, archive.ErrExists},
	} {
		t.Run(name, func(t *testing.T) {
			_, store := start(t, test.answers...)
			if err := store.PutStream(t.Context(), key.Data(), strings.NewReader("x")); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

func TestATicketIsForItsObjects(t *testing.T) {
	server, store := start(t)
	other := archive.Key{UID: key.OpID, OpID: key.UID}
	_, head := store.Head(t.Context(), other.Data())
	for _, err := range []error{head, store.Put(t.Context(), key.Data(), nil), store.Put(t.Context(), other.Marker(), nil), store.PutStream(t.Context(), key.Marker(), nil)} {
		if !errors.Is(err, archive.ErrDenied) {
			t.Errorf("%v, want ErrDenied", err)
		}
	}
	if len(server.seen) > 0 {
		t.Errorf("sent %v", server.seen)
	}
	for _, ticket := range []archive.Ticket{{}, {Key: "x"}, {Key: key.Data(), CA: "x"}} {
		if _, err := New(ticket); err == nil {
			t.Errorf("%+v was taken", ticket)
		}
	}
}

func TestStopsWhenCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	server, store := start(t, func(w http.ResponseWriter) { stop(); w.WriteHeader(503) })
	store.pause = time.Hour
	if _, err := store.Head(ctx, key.Data()); !errors.Is(err, context.Canceled) || len(server.seen) != 1 {
		t.Errorf("%v after %v, want it cancelled", err, server.seen)
	}
}

// A note overwrites the previous one, and is sent once: the mover does not wait for a busy store.
func TestNotesAreSentOnce(t *testing.T) {
	for name, answers := range map[string][]func(http.ResponseWriter){
		"": nil, "busy": {status(503, "<Error><Code>SlowDown</Code></Error>")}, "refused": {status(403, "")}, "hung up": {hangUp},
	} {
		server, store := start(t, answers...)
		err := store.WriteNote(t.Context(), []byte("note"))
		if (err == nil) != (name == "") || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		// The transport itself repeats requests that were certainly not read.
		if last := server.seen[len(server.seen)-1]; last != "PUT /?secret=6  4" || len(server.seen) > 1 && name != "hung up" {
			t.Errorf("%s: sent %v", name, server.seen)
		}
	}
}
