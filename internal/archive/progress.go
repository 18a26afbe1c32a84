package archive

import (
	"context"
	"errors"
)

// Meter is an Issuer that can tell how far the upload of a ticket is.
type Meter interface {
	// Uploaded is how many bytes of the data the store has, or ErrNotFound: the upload has been completed or ended.
	Uploaded(ctx context.Context, ticket Ticket) (int64, error)
}

// Uploaded tells how many bytes a mover has stored of the archive that its ticket is for, in whole parts of the upload:
// the store is asked, so the mover needs no rights to tell. It is not known of a ticket to restore,
// of an upload that is over, and in a store without parts.
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
