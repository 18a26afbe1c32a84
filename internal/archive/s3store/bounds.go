package s3store

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"kyklos.io/kyklos/internal/archive"
)

// Stores belong to tenants, and the operator calls them all. So an answer takes only what a real store's does (W54).
const (
	// maxRefusal is how much of the answer to a request that failed is read.
	maxRefusal = 64 << 10
	// maxAnswer is how much of any other answer is read, but for an object's content. A thousand names of a kilobyte each, as a
	// URL has them, are the longest page of a list.
	maxAnswer = 8 << 20
	// maxHeaders limits an answer's headers.
	maxHeaders = 64 << 10
	// maxListed limits the names of a list, with what is kept of each object: some 600,000 archives.
	maxListed = 64 << 20
	// perObject is what is kept of an object beside its name.
	perObject = 64
	// longestWait is how long an answer may take to begin.
	longestWait = time.Minute
	// maxUploadID is how long the ID of an upload may be: some hundred characters are usual, and it is in the URL of each part.
	maxUploadID = 2 << 10
	// maxMessage is how many characters of a store's message appear in a status.
	maxMessage = 300
)

var (
	errTooLong  = errors.New("the answer is too long to be that of an S3 store")
	errNotAsked = errors.New("the answer has a name that does not begin with the prefix")
	errNoEnd    = errors.New("the list is cut short")
	errUploadID = fmt.Errorf("an upload's ID must have 1 to %d characters", maxUploadID)
	errTooMany  = errors.New("the list has too many names: give this installation a bucket or a prefix of its own")
)

// bounded reads no more of an answer than a store's can be.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if archive.IsPage(answer) && answer.StatusCode < http.StatusInternalServerError {
		answer = noStore(answer)
	}
	failed := answer.StatusCode < 200 || answer.StatusCode > 299
	switch {
	case failed:
		answer.Body = &upTo{answer.Body, maxRefusal}
	case r.Method != http.MethodGet || isList(r.URL.Query()):
		answer.Body = &upTo{answer.Body, maxAnswer}
	}
	return answer, nil
}

// isList reports whether a GET asks for a list, of objects, uploads or parts.
func isList(query url.Values) bool {
	return query.Has("list-type") || query.Has("uploads") || query.Has("uploadId")
}

// upTo fails after so many bytes.
type upTo struct {
	io.ReadCloser
	left int
}

func (u *upTo) Read(p []byte) (int, error) {
	if u.left <= 0 {
		return 0, errTooLong
	}
	n, err := u.ReadCloser.Read(p[:min(len(p), u.left)])
	u.left -= n
	return n, err
}
