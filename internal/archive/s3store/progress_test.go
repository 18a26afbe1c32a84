package s3store

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

// The store knows the progress of an upload in whole parts, until it ends.
func TestUploaded(t *testing.T) {
	config := configOf(server(t))
	store := open(t, config)
	toArchive := issue(t, store, 100<<20)
	is := func(when string, of archive.Issuer, ticket archive.Ticket, want int64, wantKnown bool) {
		t.Helper()
		if got, known, err := archive.Uploaded(t.Context(), of, ticket); got != want || known != wantKnown || err != nil {
			t.Errorf("%s: %d, %t, %v, want %d, %t", when, got, known, err, want, wantKnown)
		}
	}
	is("begun", store, toArchive, 0, true)
	for part := range 2 {
		sendPart(t, toArchive, part+1, 5<<20)
		is(fmt.Sprint("part ", part+1), store, toArchive, int64(part+1)*5<<20, true)
	}
	is("a ticket to restore", store, issue(t, store, 0), 0, false)
	is("a file store", filestore.New(t.TempDir()), toArchive, 0, false)
	if err := store.Revoke(t.Context(), toArchive); err != nil {
		t.Fatal(err)
	}
	is("ended", store, toArchive, 0, false)

	config.Endpoint = "http://127.0.0.1:1"
	if _, known, err := archive.Uploaded(t.Context(), open(t, config), toArchive); known || err == nil {
		t.Errorf("a store out of reach: %t, %v", known, err)
	}
}

func sendPart(t *testing.T, ticket archive.Ticket, number, size int) {
	t.Helper()
	target := fmt.Sprintf("%s&partNumber=%d&X-Amz-Signature=%s", ticket.Upload.Part, number, ticket.Upload.Signatures[number-1])
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, target, bytes.NewReader(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
}
