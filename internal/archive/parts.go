package archive

import (
	"context"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"
)

const (
	// MaxParts is S3's limit for the parts of a multipart upload.
	MaxParts = 10_000
	// PartSize is the length of a part: 10,000 of them are 312 GiB. At most four are in memory.
	PartSize = 32 << 20
	// concurrentParts is how many are sent at a time, while the next one is filled.
	concurrentParts = 3
	// PartsInMemory is how many parts an upload holds at most.
	PartsInMemory = concurrentParts + 1
)

// SendPart stores one part, numbered from 1, and returns its ETag.
type SendPart func(ctx context.Context, number int, body []byte) (etag string, err error)

// UploadParts sends a stream in parts of size bytes, at most limit of them, and returns their ETags. An empty stream is
// one empty part. After an error, including one of the stream, nothing more is sent.
func UploadParts(ctx context.Context, body io.Reader, size, limit int, send SendPart) ([]string, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrentParts)
	buffers := sync.Pool{New: func() any { buffer := make([]byte, size); return &buffer }}
	var etags []*string
	read := split(body, &buffers, func(part *[]byte, length int) error {
		if len(etags) == limit {
			return fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, int64(limit)*int64(size))
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

// split calls each with every part as soon as it is full, and with the last one.
func split(body io.Reader, buffers *sync.Pool, each func(part *[]byte, length int) error) error {
	for first := true; ; first = false {
		part := buffers.Get().(*[]byte)
		n, err := io.ReadFull(body, *part)
		ended := err == io.EOF || err == io.ErrUnexpectedEOF // a wrapped one is an error of the stream
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
