package stores_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"kyklos.io/kyklos/controller/workspace/stores"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
)

// What a real store says is in the tests of s3store; here the Secret's store is asked for the ticket's
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
	s := &stores.Stores{Secrets: secrets{name: {
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
