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

// Newest finds the newest archive of a Workspace that is whole, by its marker. Where all are damaged it is the newest,
// with the verdict Corrupt. The error is the reason for any other verdict.
func (s *Stores) Newest(ctx context.Context, secret types.NamespacedName, uid string, now time.Time) (lifecycle.ArchiveView, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	store, err := s.open(ctx, secret)
	if errors.Is(err, ErrNotConfigured) {
		return lifecycle.ArchiveView{Verdict: lifecycle.NotConfigured}, err
	} else if err != nil {
		return lifecycle.ArchiveView{Verdict: lifecycle.StoreUnreachable}, err
	}
	markers, err := markersOf(ctx, store, uid)
	if err != nil {
		return lifecycle.ArchiveView{Verdict: away(err)}, err
	}
	for _, key := range markers {
		marker, err := archive.Committed(ctx, store, key, archive.Want{})
		if err == nil {
			return lifecycle.ArchiveView{Key: key.Data(), Verdict: lifecycle.Verified, Archive: described(marker, now), Store: store.address}, nil
		}
		if probed := probe(ctx, store, err); !archive.Lost(err, probed) {
			return lifecycle.ArchiveView{Verdict: away(errors.Join(err, probed))}, err
		}
	}
	if len(markers) == 0 {
		return lifecycle.ArchiveView{Verdict: lifecycle.Absent}, nil
	}
	return lifecycle.ArchiveView{Key: markers[0].Data(), Verdict: lifecycle.Corrupt}, nil
}

// away is the verdict about a store that did not answer.
func away(err error) lifecycle.Verdict {
	if errors.Is(err, archive.ErrBucketMissing) {
		return lifecycle.BucketMissing
	}
	return lifecycle.StoreUnreachable
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
