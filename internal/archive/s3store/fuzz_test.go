package s3store

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// Whatever a store answers, each call ends, without a panic.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		"", listing, listing + entry + "</ListBucketResult>", listing + "<Contents><Key>t</Key></Contents></ListBucketResult>",
		"<Error><Code>NoSuchKey</Code></Error>", "<InitiateMultipartUploadResult><UploadId>a</UploadId></InitiateMultipartUploadResult>", "<a", "\x00", fmt.Sprintf(uploads, "t"),
	} {
		f.Add(200, body, "Content-Length: 3")
		f.Add(403, body, "ETag: a")
		f.Add(404, body, "x-amz-request-id: a")
		f.Add(412, body, "Last-Modified: a")
	}
	var status atomic.Int64
	var answer, header atomic.Value
	h := newHostile(f, func(w http.ResponseWriter, _ *http.Request) {
		if name, value, ok := strings.Cut(header.Load().(string), ": "); ok && name != "Content-Length" {
			w.Header().Set(name, value)
		}
		w.WriteHeader(int(status.Load()))
		_, _ = io.WriteString(w, answer.Load().(string))
	})
	f.Fuzz(func(t *testing.T, code int, body, line string) {
		if code < 200 || code > 499 || code == 429 { // others are tried again, or are none
			return
		}
		status.Store(int64(code))
		answer.Store(body)
		header.Store(line)
		for _, call := range calls {
			_ = call(t.Context(), h.Store)
		}
	})
}
