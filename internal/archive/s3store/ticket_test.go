package s3store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/presigned"
)

var key = archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}

func issue(t *testing.T, store *Store, maxBytes int64) archive.Ticket {
	t.Helper()
	ticket, err := store.Issue(t.Context(), archive.Order{Key: key, MaxBytes: maxBytes, Attempt: "op/1", Now: time.Now(), Valid: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func holder(t *testing.T, ticket archive.Ticket) *presigned.Store {
	t.Helper()
	store, err := presigned.New(ticket)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestATicketArchivesOnceAndReads(t *testing.T) {
	store := open(t, configOf(server(t)))
	content := bytes.Repeat([]byte("0123456789abcdef"), 700_000) // three parts
	mover := holder(t, issue(t, store, 100<<20))
	for _, name := range []string{key.Data(), key.Marker()} {
		if _, err := mover.Head(t.Context(), name); !errors.Is(err, archive.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
	if err := mover.PutStream(t.Context(), key.Data(), bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if err := mover.Put(t.Context(), key.Marker(), []byte("marker")); err != nil {
		t.Fatal(err)
	}
	reader := holder(t, issue(t, store, 0))
	for name, want := range map[string][]byte{key.Data(): content, key.Marker(): []byte("marker")} {
		body, object, err := reader.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		_ = body.Close()
		if err != nil || !bytes.Equal(got, want) || object.Size != int64(len(want)) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), object.Size, err)
		}
	}
	// Neither this ticket nor another one overwrites them; one to restore does not write at all.
	for name, mover := range map[string]*presigned.Store{"same": mover, "another": holder(t, issue(t, store, 100<<20))} {
		if err := mover.Put(t.Context(), key.Marker(), []byte("other")); !errors.Is(err, archive.ErrExists) {
			t.Errorf("%s: Put: %v, want ErrExists", name, err)
		}
	}
	if err := holder(t, issue(t, store, 100<<20)).PutStream(t.Context(), key.Data(), strings.NewReader("x")); !errors.Is(err, archive.ErrExists) {
		t.Errorf("PutStream: %v, want ErrExists", err)
	}
	for _, err := range []error{reader.Put(t.Context(), key.Marker(), nil), reader.PutStream(t.Context(), key.Data(), strings.NewReader("x"))} {
		if !errors.Is(err, archive.ErrDenied) {
			t.Errorf("to restore: %v, want ErrDenied", err)
		}
	}
}

// With a ticket but without the mover, a user cannot do more with the URLs.
func TestATicketsURLsAreForNothingElse(t *testing.T) {
	store := open(t, configOf(server(t)))
	ticket := issue(t, store, 1<<20)
	if err := store.Put(t.Context(), key.Marker(), []byte("marker")); err != nil {
		t.Fatal(err)
	}
	other := archive.Key{UID: key.OpID, OpID: key.UID}
	for name, request := range map[string]struct{ method, url, ifNoneMatch string }{
		"overwrite":              {http.MethodPut, ticket.PutMarker, ""},
		"overwrite, if matching": {http.MethodPut, ticket.PutMarker, `"x"`},
		"delete":                 {http.MethodDelete, ticket.GetMarker, ""},
		"delete by PUT":          {http.MethodDelete, ticket.PutMarker, "*"},
		"read by PUT":            {http.MethodGet, ticket.PutMarker, "*"},
		"write by GET":           {http.MethodPut, ticket.GetMarker, "*"},
		"another's":              {http.MethodGet, strings.Replace(ticket.GetMarker, key.Folder(), other.Folder(), 1), ""},
		"the bucket":             {http.MethodGet, strings.Replace(ticket.GetMarker, "/team/cluster-1/"+key.Marker(), "/", 1), ""},
		"another part":           {http.MethodPut, ticket.Upload.Part + "&partNumber=9999&X-Amz-Signature=" + ticket.Upload.Signatures[0], ""},
		"a note as the marker":   {http.MethodPut, strings.Replace(ticket.PutNote, key.Note(), key.Marker(), 1), ""},
		"another's note":         {http.MethodPut, strings.Replace(ticket.PutNote, key.Folder(), other.Folder(), 1), ""},
		"delete the note":        {http.MethodDelete, ticket.PutNote, ""},
		"complete by another":    {http.MethodPost, strings.Replace(ticket.Upload.Complete, ticket.Upload.ID, "other", 1), "*"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), request.method, request.url, strings.NewReader(strings.Repeat("x", archive.NoteBytes)))
		if err != nil {
			t.Fatal(err)
		}
		if request.ifNoneMatch != "" {
			req.Header.Set("If-None-Match", request.ifNoneMatch)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode/100 == 2 {
			t.Errorf("%s: %s", name, answer.Status)
		}
	}
}

func TestTicketsEnd(t *testing.T) {
	t.Parallel() // it waits for failing retries
	store := open(t, configOf(server(t)))
	old, err := store.Issue(t.Context(), archive.Order{Key: key, MaxBytes: 1, Now: time.Now().Add(-2 * time.Hour), Valid: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := holder(t, old).Head(t.Context(), key.Data()); !errors.Is(err, archive.ErrDenied) {
		t.Errorf("expired: %v, want ErrDenied", err)
	}
	revoked := issue(t, store, 1)
	if err := errors.Join(store.Revoke(t.Context(), revoked), store.Revoke(t.Context(), revoked)); err != nil {
		t.Fatal(err)
	}
	if err := holder(t, revoked).PutStream(t.Context(), key.Data(), strings.NewReader("x")); err == nil {
		t.Error("a revoked ticket stored an object")
	}
	if _, err := store.Head(t.Context(), key.Data()); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
	for _, valid := range []time.Duration{0, -1, maxValidity + 1} {
		if _, err := store.Issue(t.Context(), archive.Order{Key: key, Now: time.Now(), Valid: valid}); err == nil {
			t.Errorf("a ticket for %v was issued", valid)
		}
	}
}

func TestTicketsSayWhatIsMissing(t *testing.T) {
	t.Parallel() // it waits for failing retries
	config := configOf(server(t))
	config.Bucket = "missing"
	ticket := issue(t, open(t, config), 0)
	if _, err := holder(t, ticket).Head(t.Context(), key.Data()); !errors.Is(err, archive.ErrBucketMissing) {
		t.Errorf("%v, want ErrBucketMissing", err)
	}
	ticket.GetData = strings.Replace(ticket.GetData, "127.0.0.1:", "127.0.0.1:1", 1)
	ticket.GetData = "http://127.0.0.1:1/" + ticket.GetData[strings.Index(ticket.GetData, "?"):]
	_, err := holder(t, ticket).Head(t.Context(), key.Data())
	if !errors.Is(err, archive.ErrUnreachable) || strings.Contains(err.Error(), "Signature") {
		t.Errorf("%v, want ErrUnreachable without the URL", err)
	}
}

// A Secret holds a megabyte. For any volume size, the ticket fits and has enough parts.
func TestTicketsOfAnySizeFitIntoASecret(t *testing.T) {
	store := open(t, configOf(server(t)))
	store.partSize = archive.PartSize
	for _, gib := range []int64{1, 100, 300, 1024, 16 << 10} {
		maxBytes := gib << 30
		ticket := issue(t, store, maxBytes)
		text, err := json.Marshal(ticket)
		if err != nil {
			t.Fatal(err)
		}
		upload := ticket.Upload
		if room := upload.PartSize * int64(len(upload.Signatures)); len(text) > 800<<10 || room < maxBytes+maxBytes/50 || len(upload.Signatures) > archive.MaxParts {
			t.Errorf("%d GiB: the ticket has %d bytes for %d parts of %d", gib, len(text), len(upload.Signatures), upload.PartSize)
		}
		if gib == 100 {
			t.Logf("100 GiB: %d bytes for %d parts", len(text), len(upload.Signatures))
		}
	}
	tight := issue(t, store, 1)
	tight.Upload.PartSize, tight.Upload.Signatures = 5<<20, tight.Upload.Signatures[:1]
	if err := holder(t, tight).PutStream(t.Context(), key.Data(), bytes.NewReader(make([]byte, 5<<20+1))); !errors.Is(err, archive.ErrTooLarge) {
		t.Errorf("%v, want ErrTooLarge", err)
	}
}
