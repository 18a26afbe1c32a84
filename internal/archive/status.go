package archive

import (
	"fmt"
	"io"
	"mime"
	"net/http"
)

// FromStatus translates an S3 store's answer to one of this package's errors: the HTTP status, 0 for no answer, and the
// error code: NotFound stands for that of a HEAD, whose answer has no body.
func FromStatus(status int, code string) error {
	switch code { // more specific than the status, which is 200 for a multipart upload that failed late
	case "NoSuchBucket":
		return ErrBucketMissing
	case "NoSuchKey":
		return ErrNotFound
	case "PreconditionFailed", "ConditionalRequestConflict":
		return ErrExists
	case "NoSuchUpload": // aborted by its issuer or by a lifecycle rule: the next attempt starts another
		return ErrUnreachable
	}
	switch status {
	case http.StatusNotFound:
		if code == "NotFound" { // the answer to a HEAD has no body
			return ErrNotFound
		}
		return ErrUnreachable // something else is missing, such as the user, or what answers is no S3 store
	case http.StatusPreconditionFailed, http.StatusConflict:
		return ErrExists // 409: another conditional write of this name is in progress
	case http.StatusForbidden, http.StatusUnauthorized:
		return ErrDenied
	}
	return ErrUnreachable
}

// IsPage reports whether an answer is a page for browsers. S3 stores answer in XML, and no page is stored here: it comes from a proxy, an
// ingress without a route or a login page, and says nothing about a bucket or an object (D23, W102).
func IsPage(answer *http.Response) bool {
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return err == nil && kind == "text/html"
}

// NoRedirect is for http.Client: whom a store's client may call is in its Secret or ticket, and a signature is not valid
// elsewhere.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Body reads an object's bytes. An error is ErrUnreachable, and so is an end before the object's size.
func Body(body io.ReadCloser, object Object) io.ReadCloser {
	return &sized{ReadCloser: body, name: object.Name, left: object.Size}
}

type sized struct {
	io.ReadCloser
	name string
	left int64
}

func (s *sized) Read(into []byte) (int, error) {
	n, err := s.ReadCloser.Read(into)
	s.left -= int64(n)
	if err == io.EOF && s.left > 0 { //nolint:errorlint // readers return io.EOF itself
		err = io.ErrUnexpectedEOF
	}
	if err != nil && err != io.EOF { //nolint:errorlint // readers return io.EOF itself
		err = fmt.Errorf("%s: %w: %w", s.name, ErrUnreachable, err)
	}
	return n, err
}
