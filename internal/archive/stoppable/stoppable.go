// Package stoppable lets long copies end with their context.
package stoppable

import (
	"context"
	"io"
)

// Reader reads from from until ctx ends, and then gives the error of ctx.
func Reader(ctx context.Context, from io.Reader) io.Reader { return &reader{ctx, from} }

type reader struct {
	ctx context.Context
	io.Reader
}

func (r *reader) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(into)
}
