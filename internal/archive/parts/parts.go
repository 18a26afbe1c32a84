// Package parts cuts a stream into the parts of an S3 multipart upload and sends them.
package parts

import (
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"kyklos.io/kyklos/internal/archive"
)

// Most is how many parts an upload can have (S3's bound).
const Most = 10_000

// Size is the length of a part: 10,000 of them are 312 GiB. At most four are in memory.
const Size = 32 << 20

// atOnce is how many are sent at a time, while the next one is filled.
const atOnce = 3

// Send stores one part, numbered from 1, and gives back its ETag.
type Send func(ctx context.Context, number int, body []byte) (etag string, err error)

// Upload sends a stream in parts of size bytes, at most most of them, and gives back their ETags.
// An empty stream is one empty part. After an error, be it the stream's own, nothing is sent any more.
func Upload(ctx context.Context, body io.Reader, size, most int, send Send) ([]string, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	buffers := sync.Pool{New: func() any { buffer := make([]byte, size); return &buffer }}
	var etags []*string
	read := split(body, &buffers, func(part *[]byte, length int) error {
		if len(etags) == most {
			return fmt.Errorf("%w: it has over %d bytes", archive.ErrTooLarge, int64(most)*int64(size))
		}
		etag, number := new(string), len(etags)+1
		etags = append(etags, etag)
		group.Go(func() (err error) {
			defer buffers.Put(part)
			*etag, err = send(ctx, number, (*part)[:length])
			return err
		})
		return ctx.Err()
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if read != nil {
		return nil, read
	}
	list := make([]string, len(etags))
	for i, etag := range etags {
		list[i] = *etag
	}
	return list, nil
}

// split hands each part on as soon as it is full, and the last one as it is.
func split(body io.Reader, buffers *sync.Pool, each func(part *[]byte, length int) error) error {
	for first := true; ; first = false {
		part := buffers.Get().(*[]byte)
		n, err := io.ReadFull(body, *part)
		ended := err == io.EOF || err == io.ErrUnexpectedEOF // wrapped, it is the stream's own error
		if err != nil && !ended {
			return err
		}
		if n > 0 || first {
			if err := each(part, n); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
	}
}
