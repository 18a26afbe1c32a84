package stores

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/archive"
)

// Progress tells how far the mover of an attempt on an archive is, by the note that it left in the store. It is one
// request. It is not known (false) before the mover's first note, which comes after ten seconds.
func (s *Stores) Progress(ctx context.Context, secret types.NamespacedName, key, attempt string) (archive.Progress, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	parsed, err := archive.ParseKey(key)
	if err != nil {
		return archive.Progress{}, false, err
	}
	store, err := s.Open(ctx, secret)
	if err != nil {
		return archive.Progress{}, false, err
	}
	return archive.ReadNote(ctx, store, parsed, attempt)
}

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
