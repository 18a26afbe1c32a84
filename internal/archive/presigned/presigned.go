// Package presigned is a mover's access to an S3 store: the few requests for which its ticket has URLs. It has no
// credentials and needs no S3 library.
package presigned

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/archive"
)

// Store is one archive in an S3 store.
type Store struct {
	ticket archive.Ticket
	key    archive.Key
	client *http.Client
	pause  time.Duration
}

var _ archive.MoverStore = (*Store)(nil)

// New returns the access that ticket grants.
func New(ticket archive.Ticket) (*Store, error) {
	key, err := archive.ParseKey(ticket.Key)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 5 * time.Minute // stores assemble large objects before they answer
	if ticket.CA != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(ticket.CA)) {
			return nil, errors.New("the ticket's ca holds no PEM certificate")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &Store{ticket: ticket, key: key, client: &http.Client{Transport: transport, CheckRedirect: archive.NoRedirect}, pause: time.Second}, nil
}

// Head implements archive.Reader with a GET whose body is not read: unlike the answer to a HEAD, it shows whether the
// object or the bucket is missing (D23).
func (s *Store) Head(ctx context.Context, name string) (archive.Object, error) {
	body, object, err := s.Get(ctx, name)
	if err == nil {
		_ = body.Close()
	}
	return object, err
}

// Get implements archive.Reader.
func (s *Store) Get(ctx context.Context, name string) (io.ReadCloser, archive.Object, error) {
	target := map[string]string{s.key.Data(): s.ticket.GetData, s.key.Marker(): s.ticket.GetMarker}[name]
	answer, err := s.send(ctx, http.MethodGet, name, target, nil)
	if err != nil {
		return nil, archive.Object{}, err
	}
	modified, _ := http.ParseTime(answer.Header.Get("Last-Modified")) // informational
	object := archive.Object{Name: name, Size: answer.ContentLength, Modified: modified}
	return archive.Body(answer.Body, object), object, nil
}

// Put implements archive.Writer, for the marker.
func (s *Store) Put(ctx context.Context, name string, body []byte) error {
	target := map[string]string{s.key.Marker(): s.ticket.PutMarker}[name]
	answer, err := s.send(ctx, http.MethodPut, name, target, body)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// PutStream implements archive.Writer, for the data. It works once: then the upload is completed. Only then it is known
// whether another upload was first, so call Head before.
func (s *Store) PutStream(ctx context.Context, name string, body io.Reader) error {
	upload := s.ticket.Upload
	if name != s.key.Data() || upload == nil {
		return fmt.Errorf("%s: %w: the ticket does not allow writing it", name, archive.ErrDenied)
	}
	etags, err := archive.UploadParts(ctx, body, int(upload.PartSize), len(upload.Signatures), func(ctx context.Context, number int, part []byte) (string, error) {
		target := upload.Part + "&partNumber=" + strconv.Itoa(number) + "&X-Amz-Signature=" + upload.Signatures[number-1]
		answer, err := s.send(ctx, http.MethodPut, name, target, part)
		if err != nil {
			return "", err
		}
		return answer.Header.Get("ETag"), answer.Body.Close()
	})
	if err != nil {
		return err
	}
	return s.complete(ctx, name, completion(etags))
}

// WriteNote stores a note and replaces the previous one. It does not retry: the next one is newer.
func (s *Store) WriteNote(ctx context.Context, note []byte) error {
	name := s.key.Note()
	answer, err := s.once(ctx, http.MethodPut, name, s.ticket.PutNote, note)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// complete completes the multipart upload.
func (s *Store) complete(ctx context.Context, name string, list []byte) error {
	answer, err := s.send(ctx, http.MethodPost, name, s.ticket.Upload.Complete, list)
	if errors.Is(err, archive.ErrUnreachable) {
		// The answer may have been lost: then the upload is gone and the object exists.
		if _, missing := s.Head(ctx, name); missing == nil {
			return fmt.Errorf("%s: %w: %w", name, archive.ErrExists, err)
		}
	}
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	// A store may answer 200 before it has assembled the parts, and then report a failure in the body.
	if code, text := failure(answer.Body); code != "" {
		return fmt.Errorf("%s: %w: %s: %s", name, archive.FromStatus(answer.StatusCode, code), code, text)
	}
	return nil
}

// completion is the body of CompleteMultipartUpload.
func completion(etags []string) []byte {
	type part struct {
		PartNumber int
		ETag       string
	}
	body := struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Part    []part
	}{}
	for i, etag := range etags {
		body.Part = append(body.Part, part{PartNumber: i + 1, ETag: etag})
	}
	text, err := xml.Marshal(body)
	if err != nil {
		panic(err) // numbers and strings only
	}
	return text
}

// failure reads the error in an answer, if there is one.
func failure(body io.Reader) (code, message string) {
	text, err := io.ReadAll(io.LimitReader(body, 1<<20))
	if err != nil {
		return "IncompleteBody", err.Error()
	}
	answer := struct {
		XMLName xml.Name
		Code    string
		Message string
	}{}
	if xml.Unmarshal(text, &answer) != nil || answer.XMLName.Local != "Error" {
		return "", ""
	}
	return answer.Code, answer.Message
}

// maxTries is how often a request is sent before it has failed.
const maxTries = 4

// send repeats a request until the store has processed it. A create that is repeated after its answer was lost returns
// ErrExists: the object was created.
func (s *Store) send(ctx context.Context, method, name, target string, body []byte) (*http.Response, error) {
	if target == "" {
		return nil, fmt.Errorf("%s: %w: the ticket does not allow %s", name, archive.ErrDenied, method)
	}
	pause := s.pause
	for try := 1; ; try++ {
		answer, err := s.once(ctx, method, name, target, body)
		if stopped := ctx.Err(); err != nil && stopped != nil {
			return nil, fmt.Errorf("%w: %w", err, stopped)
		}
		if err == nil || try == maxTries || !errors.Is(err, archive.ErrUnreachable) {
			return answer, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
		pause *= 2
	}
}

// once sends a request once. Errors never contain the URL, which is a secret.
func (s *Store) once(ctx context.Context, method, name, target string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: the ticket's URL is invalid", name, archive.ErrDenied)
	}
	if name != s.key.Note() && creates(request) {
		request.Header.Set("If-None-Match", "*") // part of the signature
	}
	if method == http.MethodPut && !request.URL.Query().Has("partNumber") {
		for header, value := range s.ticket.PutHeaders {
			request.Header.Set(header, value)
		}
	}
	answer, err := s.client.Do(request)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%s: %w: %w", name, archive.ErrUnreachable, err)
	}
	page := archive.IsPage(answer)
	if answer.StatusCode/100 == 2 && !page {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	if page {
		return nil, fmt.Errorf("%s: %w: what answers is no S3 store, but a page for browsers: %s", name, archive.ErrUnreachable, answer.Status)
	}
	code, message := failure(answer.Body)
	kind := archive.FromStatus(answer.StatusCode, code)
	return nil, fmt.Errorf("%s: %w: %s", name, kind, strings.TrimSpace(answer.Status+" "+code+" "+message))
}

func creates(request *http.Request) bool {
	return request.Method != http.MethodGet && !request.URL.Query().Has("partNumber")
}
