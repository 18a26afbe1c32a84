package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
)

// The ID of an upload is in the URL of each of thousands of parts. One that no store has costs one request, not minutes.
func TestAnUploadsIDIsBounded(t *testing.T) {
	for _, length := range []int{0, maxUploadID + 1, 4 << 20} {
		h := newHostile(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", strings.Repeat("%", length))
		})
		_, err := h.Issue(t.Context(), archive.Order{Key: someKey, MaxBytes: 100 << 40, Now: time.Unix(1e9, 0), Valid: time.Hour})
		if !errors.Is(err, archive.ErrUnreachable) || !strings.Contains(err.Error(), "an upload's ID") {
			t.Errorf("%d: %v", length, err)
		}
	}
}

// Nobody waits for a ticket any more, so it is not finished.
func TestATicketEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := newHostile(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>x</UploadId></InitiateMultipartUploadResult>")
	})
	p := presigner{store: h.Store, order: archive.Order{Key: someKey, Now: time.Unix(1e9, 0), Valid: time.Hour}}
	cancel()
	if upload := p.upload(ctx, someKey.Data(), "x", 1<<40); upload != nil || !errors.Is(p.err, context.Canceled) {
		t.Errorf("got %v, %v", upload, p.err)
	}
}

var someKey = archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}
