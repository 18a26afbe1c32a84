package stores

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// slack is how much longer than its attempt a ticket is accepted: the Job's deadline begins with its
// Pod, and clocks differ.
const slack = 10 * time.Minute

// Issue makes the ticket of one attempt on the archive of a key. order.Valid is how long the attempt may take.
func (s *Stores) Issue(ctx context.Context, secret types.NamespacedName, key string, order archive.Order) (archive.Ticket, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	var err error
	if order.Key, err = archive.ParseKey(key); err != nil {
		return archive.Ticket{}, err
	}
	store, err := s.Open(ctx, secret)
	if err != nil {
		return archive.Ticket{}, err
	}
	order.Valid += slack
	return store.Issue(ctx, order)
}

// Revoke ends the upload of a ticket, and deletes its mover's note. What is not ended can do no harm to what is
// stored; it goes with the collection.
func (s *Stores) Revoke(ctx context.Context, secret types.NamespacedName, ticket archive.Ticket) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	store, err := s.Open(ctx, secret)
	if err != nil {
		return err
	}
	err = store.Revoke(ctx, ticket)
	key, invalid := archive.ParseKey(ticket.Key)
	if ticket.Attempt == "" || invalid != nil {
		return err
	}
	return errors.Join(err, archive.DropNote(ctx, store, key))
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

// Forgotten looks for the archives of a Workspace whose status was lost, and returns the key of the newest
// that is whole, "" if there is none at all. Where all are damaged it is the newest, of which nothing is
// known then: its restore fails, and people are told.
func (s *Stores) Forgotten(ctx context.Context, secret types.NamespacedName, uid string, now time.Time) (string, lifecycle.Archive, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	store, err := s.open(ctx, secret)
	if err != nil {
		return "", lifecycle.Archive{}, err
	}
	markers, err := markersOf(ctx, store, uid)
	if err != nil || len(markers) == 0 {
		return "", lifecycle.Archive{}, err
	}
	for _, key := range markers {
		marker, err := archive.Committed(ctx, store, key, archive.Want{})
		switch {
		case err == nil:
			found := described(marker, now)
			found.Store = store.address
			return key.Data(), found, nil
		case !archive.Lost(err, probe(ctx, store, err)):
			return "", lifecycle.Archive{}, err
		}
	}
	return markers[0].Data(), lifecycle.Archive{}, nil
}

// markersOf lists the archives that have a marker, the newest first.
func markersOf(ctx context.Context, store archive.Store, uid string) ([]archive.Key, error) {
	var found []archive.Object
	for object, err := range store.List(ctx, archive.Root+uid+"/") {
		if err != nil {
			return nil, err
		}
		if _, marker, err := archive.ParseObject(object.Name); err == nil && marker {
			found = append(found, object)
		}
	}
	slices.SortFunc(found, func(a, b archive.Object) int { return b.Modified.Compare(a.Modified) })
	var keys []archive.Key
	for _, object := range found {
		if key, _, err := archive.ParseObject(object.Name); err == nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
