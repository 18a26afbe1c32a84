package s3store

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"kyklos.io/kyklos/internal/archive"
)

const (
	maxValidity = 7 * 24 * time.Hour // SigV4's limit for presigned URLs
	signature   = "X-Amz-Signature"
)

// Issue implements archive.Issuer. It signs with the store's credentials. For archiving it sends one request, which
// starts the upload.
func (s *Store) Issue(ctx context.Context, order archive.Order) (archive.Ticket, error) {
	if order.Valid <= 0 || order.Valid > maxValidity {
		return archive.Ticket{}, fmt.Errorf("a ticket can be valid for up to %v, not for %v", maxValidity, order.Valid)
	}
	credentials, err := s.signing(ctx, order.Valid)
	if err != nil {
		return archive.Ticket{}, wrap(order.Key.Data(), err)
	}
	p := presigner{store: s, order: order, credentials: credentials}
	data, marker := order.Key.Data(), order.Key.Marker()
	ticket := archive.Ticket{
		Key:       data,
		GetData:   p.url(ctx, http.MethodGet, data, nil),
		GetMarker: p.url(ctx, http.MethodGet, marker, nil),
		Attempt:   order.Attempt,
		CA:        string(s.config.CA),
		Expires:   order.Now.Add(order.Valid),

		PutHeaders: s.config.encryptionHeaders(),
	}
	if credentials.CanExpire && credentials.Expires.Before(ticket.Expires) {
		ticket.Expires = credentials.Expires
	}
	if order.Attempt != "" {
		ticket.PutNote = p.url(ctx, http.MethodPut, order.Key.Note(), nil)
	}
	if order.MaxBytes <= 0 {
		return ticket, p.err
	}
	id, err := s.startUpload(ctx, data)
	if err != nil {
		return archive.Ticket{}, err
	}
	ticket.PutMarker = p.url(ctx, http.MethodPut, marker, nil)
	ticket.Upload = p.upload(ctx, data, id, order.MaxBytes)
	return ticket, p.err
}

// Revoke implements archive.Issuer.
func (s *Store) Revoke(ctx context.Context, ticket archive.Ticket) error {
	if ticket.Upload == nil {
		return nil
	}
	return s.abort(ctx, ticket.Key, ticket.Upload.ID)
}

// presigner signs URLs until one fails; err is then set.
type presigner struct {
	store       *Store
	order       archive.Order
	credentials aws.Credentials
	err         error
}

func (p *presigner) upload(ctx context.Context, name, id string, maxBytes int64) *archive.Upload {
	upload := &archive.Upload{ID: id}
	var count int64
	upload.PartSize, count = partPlan(maxBytes, int64(p.store.partSize))
	for number := range count {
		signed := p.url(ctx, http.MethodPut, name, url.Values{"uploadId": {id}, "partNumber": {strconv.FormatInt(number+1, 10)}})
		if p.err != nil {
			return nil
		}
		base, signature := splitPart(signed)
		upload.Part = base
		upload.Signatures = append(upload.Signatures, signature)
	}
	upload.Complete = p.url(ctx, http.MethodPost, name, url.Values{"uploadId": {id}})
	return upload
}

// partPlan returns the length and the maximum number of parts for a volume of maxBytes. Incompressible data take at most
// 2 % more, and very many empty files 64 MiB.
func partPlan(maxBytes, partSize int64) (size, count int64) {
	need := maxBytes + maxBytes/50 + 64<<20
	for need/partSize >= archive.MaxParts {
		partSize *= 2
	}
	return partSize, need/partSize + 1
}

// splitPart separates a part's number and signature from its URL.
func splitPart(signed string) (base, partSignature string) {
	parsed, err := url.Parse(signed)
	if err != nil {
		panic(err) // the signer made it
	}
	query := parsed.Query()
	partSignature = query.Get(signature)
	query.Del(signature)
	query.Del("partNumber")
	parsed.RawQuery = query.Encode()
	return parsed.String(), partSignature
}

// url signs one request. Requests that create an object are signed together with the header If-None-Match: *, so that the
// URL cannot be used to overwrite it. The note may be overwritten, and is signed together with its length.
func (p *presigner) url(ctx context.Context, method, name string, query url.Values) string {
	if p.err == nil {
		p.err = ctx.Err()
	}
	if p.err != nil {
		return ""
	}
	request, err := http.NewRequestWithContext(ctx, method, p.store.address(name), nil)
	if err != nil {
		p.err = err
		return ""
	}
	if query == nil {
		query = url.Values{}
	}
	switch {
	case name == p.order.Key.Note():
		request.ContentLength = archive.NoteBytes
	case method != http.MethodGet && !query.Has("partNumber"):
		request.Header.Set("If-None-Match", "*")
	}
	if method == http.MethodPut && !query.Has("partNumber") { // parts are encrypted as their upload is
		for header, value := range p.store.config.encryptionHeaders() {
			request.Header.Set(header, value)
		}
	}
	query.Set("X-Amz-Expires", strconv.FormatInt(int64(p.order.Valid/time.Second), 10))
	request.URL.RawQuery = query.Encode()
	config := p.store.config
	signer := v4.NewSigner(func(options *v4.SignerOptions) { options.DisableURIPathEscaping = true })
	signed, _, err := signer.PresignHTTP(ctx, p.credentials, request, "UNSIGNED-PAYLOAD", "s3", config.Region, p.order.Now)
	p.err = err
	return signed
}

// address is an object's URL. Names and prefixes need no escaping: see Config and archive.Key.
func (s *Store) address(name string) string { return s.config.url(name).String() }

func (c Config) url(name string) *url.URL {
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil {
		panic(err) // complete has parsed it
	}
	if c.VirtualHost {
		endpoint.Host = c.Bucket + "." + endpoint.Host
		endpoint.Path = "/" + c.Prefix + name
	} else {
		endpoint.Path = "/" + c.Bucket + "/" + c.Prefix + name
	}
	return endpoint
}
