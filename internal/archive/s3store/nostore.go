package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"kyklos.io/kyklos/internal/archive"
)

// codeNoStore is the code that an answer gets which is none of an S3 store.
const codeNoStore = "NoObjectStore"

// noStore replaces an answer by a refusal in the form of S3: to repeat the request does not help.
func noStore(answer *http.Response) *http.Response {
	text := fmt.Sprintf("<Error><Code>%s</Code><Message>what answers is no S3 store, but a page for browsers: %d %s</Message></Error>",
		codeNoStore, answer.StatusCode, http.StatusText(answer.StatusCode))
	_ = answer.Body.Close()
	replaced := *answer
	replaced.StatusCode, replaced.Status = http.StatusBadRequest, "400 Bad Request"
	replaced.Header = http.Header{"Content-Type": {"application/xml"}}
	replaced.Body, replaced.ContentLength, replaced.Uncompressed = io.NopCloser(strings.NewReader(text)), int64(len(text)), false
	return &replaced
}

// noBucket confirms that a bucket does not exist. The answer to a HEAD has no body, so anything can be behind a 404; that to a list
// has the code of an S3 store.
func (s *Store) noBucket(ctx context.Context) error {
	_, err := s.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &s.config.Bucket, Prefix: s.object(archive.Root), MaxKeys: aws.Int32(1)})
	if err = wrap("bucket "+s.config.Bucket, err); errors.Is(err, archive.ErrBucketMissing) {
		return fmt.Errorf("bucket %s: %w", s.config.Bucket, archive.ErrBucketMissing)
	}
	return err
}
