package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/endpoints"
)

// hostile is a store that belongs to somebody who means harm. It counts the bytes that it gets rid of.
type hostile struct {
	*Store
	sent atomic.Int64
}

func newHostile(t testing.TB, answer http.HandlerFunc) *hostile {
	t.Helper()
	h := &hostile{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(counting{w, &h.sent}, r) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	store, err := New(Config{Endpoint: server.URL, Bucket: "homes", Prefix: "team", AccessKeyID: "a", SecretAccessKey: "b", Allowed: endpoints.Local})
	if err != nil {
		t.Fatal(err)
	}
	h.Store = store
	h.client = s3.New(h.client.Options(), withoutDelay)
	return h
}

// withoutDelay repeats a request as often as the SDK does, but does not wait before.
func withoutDelay(options *s3.Options) {
	options.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

type counting struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// endless sends a beginning, and then something again and again until nobody reads it.
func endless(status int, beginning, again string) http.HandlerFunc {
	again = strings.Repeat(again, 64<<10/len(again)+1)
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, err := io.WriteString(w, beginning)
		for err == nil && r.Method != http.MethodHead && r.Context().Err() == nil {
			_, err = io.WriteString(w, again)
		}
	}
}

const (
	listing = `<?xml version="1.0"?><ListBucketResult>`
	uploads = `<ListMultipartUploadsResult><Upload><Key>%s</Key><Initiated>2020-01-01T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>`
	entry   = `<Contents><Key>team/archives/a</Key><Size>1</Size></Contents>`
)

// calls are all that the operator asks of a store.
var calls = map[string]func(context.Context, *Store) error{
	"HeadBucket": func(ctx context.Context, s *Store) error { return s.HeadBucket(ctx) },
	"Head":       func(ctx context.Context, s *Store) error { _, err := s.Head(ctx, "archives/a"); return err },
	"Get": func(ctx context.Context, s *Store) error {
		body, _, err := s.Get(ctx, "archives/a")
		if err == nil {
			return body.Close()
		}
		return err
	},
	"Put":    func(ctx context.Context, s *Store) error { return s.Put(ctx, "archives/a", []byte("x")) },
	"Delete": func(ctx context.Context, s *Store) error { return s.Delete(ctx, "archives/a") },
	"List":   func(ctx context.Context, s *Store) error { _, err := list(ctx, s); return err },
	"PutStream": func(ctx context.Context, s *Store) error {
		return s.PutStream(ctx, "archives/a", io.LimitReader(zeros{}, 6<<20))
	},
	"AbortUploads": func(ctx context.Context, s *Store) error {
		_, err := s.AbortUploads(ctx, "archives/", time.Now())
		return err
	},
	"Uploaded": func(ctx context.Context, s *Store) error {
		_, err := s.Uploaded(ctx, archive.Ticket{Key: "archives/a", Upload: &archive.Upload{ID: "b"}})
		return err
	},
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func list(ctx context.Context, s *Store) (names []string, err error) {
	for object, err := range s.List(ctx, "archives/") {
		if err != nil {
			return names, err
		}
		names = append(names, object.Name)
	}
	return names, nil
}

// No answer takes more than a few megabytes, of this process or of the network.
func TestEndlessAnswers(t *testing.T) {
	const enough = 64 << 20 // three attempts, what is in flight, and what an answer may have
	for name, answer := range map[string]http.HandlerFunc{
		"refused":          endless(http.StatusForbidden, "<Error><Code>AccessDenied</Code><Message>", "no "),
		"refused, no XML":  endless(http.StatusForbidden, "", "no "),
		"a failure":        endless(http.StatusInternalServerError, "<Error>", "<Code>a</Code>"),
		"a list":           endless(http.StatusOK, listing, entry),
		"one name":         endless(http.StatusOK, listing+"<Contents><Key>", "a"),
		"a deep answer":    endless(http.StatusOK, listing, "<a>"),
		"nothing in a 200": endless(http.StatusOK, "", "\n"),
	} {
		for verb, call := range calls {
			if strings.HasPrefix(verb, "Get") && name != "refused" {
				continue // who reads an object limits what is read
			}
			t.Run(name+" to "+verb, func(t *testing.T) {
				t.Parallel()
				h := newHostile(t, answer)
				h.partSize = 5 << 20
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := call(ctx, h.Store); err != nil && utf8.RuneCountInString(err.Error()) > 1000 {
					t.Errorf("an error of %d characters", len(err.Error()))
				}
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					t.Error("read until the deadline")
				}
				if sent := h.sent.Load(); sent > enough {
					t.Errorf("%d MiB were read", sent>>20)
				}
			})
		}
	}
}

// A refusal stays a refusal, whatever comes with it.
func TestARefusalIsOneDespiteItsBody(t *testing.T) {
	h := newHostile(t, endless(http.StatusForbidden, "", "no "))
	if _, _, err := h.Get(t.Context(), "archives/a"); !errors.Is(err, archive.ErrDenied) {
		t.Errorf("got %v", err)
	}
	h = newHostile(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>"+strings.Repeat("é\n\x00no ", 2000)+"</Message></Error>")
	})
	_, _, err := h.Get(t.Context(), "archives/a")
	if !errors.Is(err, archive.ErrDenied) || strings.ContainsAny(err.Error(), "\n\x00") || utf8.RuneCountInString(err.Error()) > 400 {
		t.Errorf("got %d characters, %v", utf8.RuneCountInString(err.Error()), err)
	}
}

// pages answers lists with pages that never end.
func pages(token func(page int64) string, names func(page int64, i int) string) http.HandlerFunc {
	var page atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		n := page.Add(1)
		_, _ = io.WriteString(w, listing+"<IsTruncated>true</IsTruncated><NextContinuationToken>"+token(n)+"</NextContinuationToken>")
		for i := range 1000 {
			_, _ = fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", names(n, i))
		}
		_, _ = io.WriteString(w, "</ListBucketResult>")
	}
}

func TestListsEnd(t *testing.T) {
	long := strings.Repeat("x", 1000)
	wrong := func(name string) func(int64, int) string { return func(int64, int) string { return name } }
	next := func(page int64) string { return fmt.Sprint(page) }
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		most   int
	}{
		"endless":                {pages(next, func(page int64, i int) string { return fmt.Sprintf("team/archives/%d-%d-%s", page, i, long) }), 1 << 17},
		"the same page":          {pages(func(int64) string { return "a" }, func(page int64, i int) string { return fmt.Sprint("team/archives/", page, i) }), 3000},
		"more without a token":   {pages(func(int64) string { return "" }, func(page int64, i int) string { return fmt.Sprint("team/archives/", page, i) }), 1000},
		"names of another store": {pages(next, wrong("other/archives/a")), 0},
		"a short name":           {pages(next, wrong("te")), 0},
		"no name":                {pages(next, wrong("")), 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t, tc.answer)
			names, err := list(t.Context(), h.Store)
			if !errors.Is(err, archive.ErrUnreachable) || len(names) > tc.most {
				t.Errorf("%d names, then %v", len(names), err)
			}
		})
	}
}

// An upload with a name that was not asked for is left alone.
func TestUploadsOfOthersAreNotAborted(t *testing.T) {
	for _, name := range []string{"", "t", "other/archives/a", "team/other"} {
		var asked atomic.Int64
		h := newHostile(t, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = fmt.Fprintf(w, uploads, name)
		})
		if n, err := h.AbortUploads(t.Context(), "archives/", time.Now()); n > 0 || !errors.Is(err, archive.ErrUnreachable) || asked.Load() > 1 {
			t.Errorf("%q: %d aborted in %d requests, %v", name, n, asked.Load(), err)
		}
	}
}

// A store does not send the operator elsewhere: whom it may call is in the Secret.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var called atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer elsewhere.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		h := newHostile(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
		for verb, call := range calls {
			if err := call(t.Context(), h.Store); err == nil {
				t.Errorf("%s succeeded after a redirect with %d", verb, status)
			}
		}
	}
	if called.Load() > 0 {
		t.Errorf("%d calls elsewhere", called.Load())
	}
}
