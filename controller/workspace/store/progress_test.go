package store_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/archive/mover"
)

// The tests of s3store have the answers of a real store; here the Secret's store is asked for the ticket's
// upload.
func TestUploaded(t *testing.T) {
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked = r.URL.Path + "?" + r.URL.Query().Get("uploadId"); r.URL.Query().Get("uploadId") != "mine" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchUpload</Code></Error>`)
			return
		}
		fmt.Fprint(w, `<ListPartsResult><Part><PartNumber>1</PartNumber><Size>30</Size></Part><Part><PartNumber>2</PartNumber><Size>12</Size></Part></ListPartsResult>`)
	}))
	t.Cleanup(server.Close)
	s := &store.Client{Options: connect.Options{Endpoints: endpoints.Local}, Clock: clocktesting.NewFakePassiveClock(now), Secrets: secrets{name: {
		connect.Endpoint: []byte(server.URL), connect.Bucket: []byte("homes"), connect.AccessKeyID: []byte("a"), connect.SecretAccessKey: []byte("b"),
	}}}
	ticket := archive.Ticket{Key: key.Data(), Upload: &archive.Upload{ID: "mine"}}
	if bytes, known, err := s.Uploaded(t.Context(), name, ticket); bytes != 42 || !known || err != nil || asked != "/homes/"+key.Data()+"?mine" {
		t.Errorf("%d, %t, %v, asked for %s", bytes, known, err, asked)
	}
	ticket.Upload.ID = "over"
	if _, known, err := s.Uploaded(t.Context(), name, ticket); known || err != nil {
		t.Errorf("an upload that is over: %t, %v", known, err)
	}
	delete(s.Secrets.(secrets), name)
	if _, known, err := s.Uploaded(t.Context(), name, ticket); known || err == nil {
		t.Errorf("without a Secret: %t, %v", known, err)
	}
}

// A mover's progress is known for its own attempt, until the ticket is revoked.
func TestProgress(t *testing.T) {
	s, known := newStores(t.TempDir())
	ticket, err := s.Issue(t.Context(), name, key.Data(), archive.Order{Attempt: "op/1", Now: now, Valid: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	opened, _, err := mover.Open(ticket)
	if err != nil {
		t.Fatal(err)
	}
	is := func(attempt string, want bool) {
		t.Helper()
		if got, known, err := s.Progress(t.Context(), name, key.Data(), attempt); known != want || want && got.Bytes != 5 || err != nil {
			t.Errorf("%s: %+v, %t, %v, want it known: %t", attempt, got, known, err, want)
		}
	}
	is("op/1", false)
	if err := mover.Noter(ticket, opened)(t.Context(), archive.Progress{Step: archive.Packing, Bytes: 5}); err != nil {
		t.Fatal(err)
	}
	is("op/1", true)
	is("op/2", false)
	earlier := ticket
	earlier.Attempt = ""
	for _, revoked := range []archive.Ticket{earlier, ticket} {
		is("op/1", true)
		if err := s.Revoke(t.Context(), name, revoked); err != nil {
			t.Error(err)
		}
	}
	is("op/1", false)
	if _, _, err := s.Progress(t.Context(), name, "archives/nonsense", "op/1"); err == nil {
		t.Error("a key that is none")
	}
	delete(known, name)
	if _, _, err := s.Progress(t.Context(), name, key.Data(), "op/1"); !errors.Is(err, store.ErrNotConfigured) {
		t.Errorf("without a Secret: %v", err)
	}
}
