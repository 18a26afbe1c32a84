package store_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/lifecycle"
)

// After three calls without an answer a store is not called until its rest is over or its Secret has changed. A refusal is an
// answer (W60).
func TestASilentStoreIsAskedLessOften(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	clock := clocktesting.NewFakePassiveClock(now)
	known := secrets{name: {
		connect.Endpoint: []byte(server.URL), connect.Bucket: []byte("homes"), connect.AccessKeyID: []byte("a"), connect.SecretAccessKey: []byte("b"),
	}}
	s := &store.Client{Secrets: known, Options: connect.Options{Endpoints: endpoints.Local}, Clock: clock}
	verify := func(want error, says string) {
		t.Helper()
		view, err := s.Verify(t.Context(), name, "ann", key.Data(), clock.Now())
		if view.Verdict != lifecycle.StoreUnreachable || !errors.Is(err, want) || !strings.Contains(err.Error(), says) || store.Code(err) != lifecycle.CodeStoreUnreachable {
			t.Fatalf("%+v, %v, want %q", view, err, says)
		}
	}
	silent := func() {
		t.Helper()
		s.Timeout = 1 // there is no time to answer
		for range 3 {
			verify(archive.ErrUnreachable, "deadline")
		}
		s.Timeout = 0
		before := asked.Load()
		verify(archive.ErrUnreachable, "it did not answer 3 times in a row; it is asked again at "+clock.Now().Add(5*time.Second).Format(time.RFC3339))
		if err := s.Keep(t.Context(), name, key.Data(), "ann"); !errors.Is(err, archive.ErrUnreachable) || asked.Load() > before {
			t.Fatalf("%v after %d calls", err, asked.Load()-before)
		}
	}
	silent()
	clock.SetTime(now.Add(5 * time.Second))
	verify(archive.ErrDenied, "refuses access")
	verify(archive.ErrDenied, "refuses access")
	silent()
	known[name][connect.AccessKeyID] = []byte("another")
	verify(archive.ErrDenied, "refuses access")
}
