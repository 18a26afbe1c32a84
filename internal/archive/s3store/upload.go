package s3store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"kyklos.io/kyklos/internal/archive"
)

// PutStream implements archive.Writer: a single part is sent in one request, anything longer as a multipart upload, which
// is aborted if anything fails.
func (s *Store) PutStream(ctx context.Context, name string, body io.Reader) error {
	first := make([]byte, s.partSize)
	n, err := io.ReadFull(body, first)
	if err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // a wrapped one is an error of the stream
		return s.Put(ctx, name, first[:n])
	}
	if err != nil {
		return err
	}
	id, err := s.startUpload(ctx, name)
	if err != nil {
		return err
	}
	if err := s.multipart(ctx, name, id, io.MultiReader(bytes.NewReader(first), body)); err != nil {
		// also after ctx has ended
		return errors.Join(err, s.abort(context.WithoutCancel(ctx), name, id))
	}
	return nil
}

func (s *Store) startUpload(ctx context.Context, name string) (id string, err error) {
	algorithm, keyID := s.config.encryption()
	begun, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &s.config.Bucket, Key: s.object(name), ServerSideEncryption: algorithm, SSEKMSKeyId: keyID,
	})
	if err != nil {
		return "", wrap(name, err)
	}
	if id = aws.ToString(begun.UploadId); id == "" || len(id) > maxUploadID {
		return "", fmt.Errorf("%s: %w: %w", name, archive.ErrUnreachable, errUploadID)
	}
	if err := s.config.encrypts(begun.ServerSideEncryption); err != nil {
		return "", errors.Join(err, s.abort(ctx, name, id))
	}
	return id, nil
}

func (s *Store) multipart(ctx context.Context, name, id string, body io.Reader) error {
	etags, err := archive.UploadParts(ctx, body, s.partSize, archive.MaxParts, func(ctx context.Context, number int, part []byte) (string, error) {
		sent, err := s.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &s.config.Bucket, Key: s.object(name), UploadId: &id, PartNumber: aws.Int32(int32(number)), Body: bytes.NewReader(part),
		})
		if err != nil {
			return "", wrap(name, err)
		}
		return aws.ToString(sent.ETag), nil
	})
	if err != nil {
		return err
	}
	done := make([]types.CompletedPart, len(etags))
	for i := range etags {
		done[i] = types.CompletedPart{ETag: &etags[i], PartNumber: aws.Int32(int32(i + 1))}
	}
	_, err = s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.config.Bucket, Key: s.object(name), UploadId: &id, IfNoneMatch: aws.String("*"),
		MultipartUpload: &types.CompletedMultipartUpload{Parts: done},
	})
	return wrap(name, err)
}

// Uploaded implements archive.Meter.
func (s *Store) Uploaded(ctx context.Context, ticket archive.Ticket) (int64, error) {
	pages := s3.NewListPartsPaginator(s.client, &s3.ListPartsInput{
		Bucket: &s.config.Bucket, Key: s.object(ticket.Key), UploadId: &ticket.Upload.ID,
	})
	var bytes int64
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if codeOf(err) == "NoSuchUpload" {
			return 0, fmt.Errorf("%s: upload: %w", ticket.Key, archive.ErrNotFound)
		}
		if err != nil {
			return 0, wrap(ticket.Key, err)
		}
		for _, part := range page.Parts {
			bytes += aws.ToInt64(part.Size)
		}
	}
	return bytes, nil
}

// abort aborts an upload. A missing one was aborted already.
func (s *Store) abort(ctx context.Context, name, id string) error {
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.config.Bucket, Key: s.object(name), UploadId: &id})
	if codeOf(err) == "NoSuchUpload" {
		return nil
	}
	return wrap(name, err)
}

// AbortUploads aborts all uploads below prefix that were started before a time, and returns how many. They belong to
// killed movers; they are invisible, but the store keeps their parts.
func (s *Store) AbortUploads(ctx context.Context, prefix string, before time.Time) (aborted int, err error) {
	pages := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &s.config.Bucket, Prefix: s.object(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return aborted, wrap(prefix, err)
		}
		for _, upload := range page.Uploads {
			name, ok := s.within(upload.Key, prefix)
			if !ok {
				return aborted, fmt.Errorf("%s: %w: %w", prefix, archive.ErrUnreachable, errNotAsked)
			}
			if !aws.ToTime(upload.Initiated).Before(before) {
				continue
			}
			if err := s.abort(ctx, name, aws.ToString(upload.UploadId)); err != nil {
				return aborted, err
			}
			aborted++
		}
	}
	return aborted, nil
}
