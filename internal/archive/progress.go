package archive

import (
	"context"
	"errors"
)

// Meter is an Issuer that knows the progress of a ticket's upload.
type Meter interface {
	// Uploaded returns how many bytes the store has, or ErrNotFound if the upload was completed or aborted.
	Uploaded(ctx context.Context, ticket Ticket) (int64, error)
}

// Uploaded returns how many bytes a mover has stored with its ticket, in whole parts of the upload. It asks the store, so
// the mover needs no permission to report it. It is unknown for a restore, after the upload, and in a store without
// parts.
func Uploaded(ctx context.Context, store Issuer, ticket Ticket) (bytes int64, known bool, err error) {
	meter, ok := store.(Meter)
	if !ok || ticket.Upload == nil {
		return 0, false, nil
	}
	bytes, err = meter.Uploaded(ctx, ticket)
	if errors.Is(err, ErrNotFound) {
		return 0, false, nil
	}
	return bytes, err == nil, err
}
