package s3store

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"kyklos.io/kyklos/internal/archive"
)

// Store is a bucket.
type Store struct {
	config   Config
	session  *session // of a role; nil for an access key
	client   *s3.Client
	partSize int
}

var (
	_ archive.Issuer = (*Store)(nil)
	_ archive.Meter  = (*Store)(nil)
)

// New returns the store that config describes. It sends no request; see HeadBucket.
func New(config Config) (*Store, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	options := s3.Options{
		Region:       config.Region,
		BaseEndpoint: &config.Endpoint,
		UsePathStyle: !config.VirtualHost,
		// Objects are read back and compared with Kyklos's own sum.
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	}
	if config.Checksums {
		options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenSupported
	}
	endpoint, err := url.Parse(config.Endpoint)
	if err != nil {
		return nil, err
	}
	if options.HTTPClient, err = config.httpClient(endpoint, config.url("")); err != nil { // the bucket may be in the name
		return nil, err
	}
	store := &Store{config: config, partSize: archive.PartSize}
	if config.Role != nil {
		if store.session, err = config.session(); err != nil {
			return nil, err
		}
	}
	options.Credentials = store.provider()
	store.client = s3.New(options)
	return store, nil
}

// httpClient calls an endpoint, by a URL of it.
func (c Config) httpClient(endpoint, called *url.URL) (*http.Client, error) {
	var pool *x509.CertPool
	if len(c.CA) > 0 {
		if pool = x509.NewCertPool(); !pool.AppendCertsFromPEM(c.CA) {
			return nil, errors.New("ca.crt: no PEM certificate found")
		}
	}
	transport := awshttp.NewBuildableClient().GetTransport()
	transport.MaxResponseHeaderBytes, transport.DisableCompression, transport.ResponseHeaderTimeout = maxHeaders, true, longestWait
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if err := c.Allowed.Restrict(transport, endpoint, called); err != nil {
		return nil, err
	}
	return &http.Client{Transport: bounded{transport}, CheckRedirect: archive.NoRedirect}, nil
}

func (s *Store) object(name string) *string { return aws.String(s.config.Prefix + name) }

// HeadBucket implements archive.Store.
func (s *Store) HeadBucket(ctx context.Context) error {
	_, err := s.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &s.config.Bucket})
	if err = wrap("bucket "+s.config.Bucket, err); errors.Is(err, archive.ErrNotFound) {
		return s.noBucket(ctx)
	}
	return err
}

// Head implements archive.Reader. The answer to a HEAD does not show what is missing, so it checks the bucket, too (D23).
func (s *Store) Head(ctx context.Context, name string) (archive.Object, error) {
	found, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.config.Bucket, Key: s.object(name)})
	if err = wrap(name, err); errors.Is(err, archive.ErrNotFound) {
		if probe := s.HeadBucket(ctx); probe != nil {
			return archive.Object{}, probe
		}
	}
	if err != nil {
		return archive.Object{}, err
	}
	return archive.Object{Name: name, Size: aws.ToInt64(found.ContentLength), Modified: aws.ToTime(found.LastModified)}, nil
}

// Get implements archive.Reader.
func (s *Store) Get(ctx context.Context, name string) (io.ReadCloser, archive.Object, error) {
	found, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.config.Bucket, Key: s.object(name)})
	if err != nil {
		return nil, archive.Object{}, wrap(name, err)
	}
	object := archive.Object{Name: name, Size: aws.ToInt64(found.ContentLength), Modified: aws.ToTime(found.LastModified)}
	return archive.Body(found.Body, object), object, nil
}

// Put implements archive.Writer.
func (s *Store) Put(ctx context.Context, name string, body []byte) error {
	algorithm, keyID := s.config.encryption()
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.config.Bucket, Key: s.object(name), Body: bytes.NewReader(body), IfNoneMatch: aws.String("*"),
		ServerSideEncryption: algorithm, SSEKMSKeyId: keyID,
	})
	err = wrap(name, err)
	if errors.Is(err, archive.ErrUnreachable) {
		// A store that refuses before it has read the body may close the connection before its answer is read, and the
		// answer to a successful request may be lost.
		if _, missing := s.Head(ctx, name); missing == nil {
			return fmt.Errorf("%s: %w: %w", name, archive.ErrExists, err)
		}
	}
	return err
}

// Delete implements archive.Store.
func (s *Store) Delete(ctx context.Context, name string) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.config.Bucket, Key: s.object(name)})
	if err = wrap(name, err); errors.Is(err, archive.ErrNotFound) {
		return s.HeadBucket(ctx)
	}
	return err
}

// List implements archive.Store, with 1,000 objects per page.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[archive.Object, error] {
	return func(yield func(archive.Object, error) bool) {
		pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.config.Bucket, Prefix: s.object(prefix)},
			func(o *s3.ListObjectsV2PaginatorOptions) { o.StopOnDuplicateToken = true })
		left, more := maxListed, false
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(archive.Object{}, wrap(prefix, err))
				return
			}
			more = aws.ToBool(page.IsTruncated)
			for _, found := range page.Contents {
				object, err := s.listed(found, prefix)
				if left -= len(object.Name) + perObject; err == nil && left < 0 {
					err = errTooMany
				}
				if err != nil {
					yield(archive.Object{}, fmt.Errorf("%s: %w: %w", prefix, archive.ErrUnreachable, err))
					return
				}
				if !yield(object, nil) {
					return
				}
			}
		}
		if more { // but it does not say from where
			yield(archive.Object{}, fmt.Errorf("%s: %w: %w", prefix, archive.ErrUnreachable, errNoEnd))
		}
	}
}

// listed is an object of a list. A store may answer with anything.
func (s *Store) listed(found types.Object, prefix string) (archive.Object, error) {
	name, ok := s.within(found.Key, prefix)
	if !ok {
		return archive.Object{}, errNotAsked
	}
	return archive.Object{Name: name, Size: aws.ToInt64(found.Size), Modified: aws.ToTime(found.LastModified)}, nil
}

// within returns the name of a listed key. It reports false if the list was not of it.
func (s *Store) within(key *string, prefix string) (name string, ok bool) {
	name, ok = strings.CutPrefix(aws.ToString(key), s.config.Prefix)
	return name, ok && strings.HasPrefix(name, prefix)
}
