package stores

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// slack is how much longer than its attempt a ticket is accepted: the Job's deadline begins with its
// Pod, and clocks differ.
const slack = 10 * time.Minute

// Issue makes the ticket of one attempt. maxBytes is the volume's size to archive, 0 to restore;
// attempt is how long the attempt may take.
func (s *Stores) Issue(ctx context.Context, secret types.NamespacedName, key string, maxBytes int64, now time.Time, attempt time.Duration) (archive.Ticket, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	parsed, err := archive.ParseKey(key)
	if err != nil {
		return archive.Ticket{}, err
	}
	store, err := s.Open(ctx, secret)
	if err != nil {
		return archive.Ticket{}, err
	}
	return store.Issue(ctx, archive.Order{Key: parsed, MaxBytes: maxBytes, Now: now, Valid: attempt + slack})
}

// Revoke ends the upload of a ticket. An upload that is not ended can do no harm to what is stored; it
// goes with the collection, a day later.
func (s *Stores) Revoke(ctx context.Context, secret types.NamespacedName, ticket archive.Ticket) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	store, err := s.Open(ctx, secret)
	if err != nil {
		return err
	}
	return store.Revoke(ctx, ticket)
}

// Keep marks an archive as left behind on purpose.
func (s *Stores) Keep(ctx context.Context, secret types.NamespacedName, key string) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	parsed, err := archive.ParseKey(key)
	if err != nil {
		return err
	}
	store, err := s.Open(ctx, secret)
	if err != nil {
		return err
	}
	return archive.Keep(ctx, store, parsed)
}

// Forgotten looks for the newest committed archive of a Workspace whose status was lost, and returns
// its key, "" if there is none.
func (s *Stores) Forgotten(ctx context.Context, secret types.NamespacedName, uid string, now time.Time) (string, lifecycle.Archive, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	store, err := s.Open(ctx, secret)
	if err != nil {
		return "", lifecycle.Archive{}, err
	}
	var newest archive.Object
	for object, err := range store.List(ctx, archive.Root+uid+"/") {
		if err != nil {
			return "", lifecycle.Archive{}, err
		}
		if _, marker, err := archive.ParseObject(object.Name); err == nil && marker && object.Modified.After(newest.Modified) {
			newest = object
		}
	}
	if newest.Name == "" {
		return "", lifecycle.Archive{}, nil
	}
	key, _, err := archive.ParseObject(newest.Name)
	if err != nil {
		return "", lifecycle.Archive{}, err
	}
	marker, err := archive.Committed(ctx, store, key, archive.Want{})
	if err != nil {
		return "", lifecycle.Archive{}, err
	}
	return key.Data(), described(marker, now), nil
}
