package stores

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/archive"
)

// Uploaded tells how many bytes the mover with a ticket has stored so far. It is one request for every
// thousand parts of 32 MiB. It is not known (false) of a ticket to restore, of an upload that is over, and
// of a store that is a folder.
func (s *Stores) Uploaded(ctx context.Context, secret types.NamespacedName, ticket archive.Ticket) (bytes int64, known bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	store, err := s.Open(ctx, secret)
	if err != nil {
		return 0, false, err
	}
	return archive.Uploaded(ctx, store, ticket)
}
