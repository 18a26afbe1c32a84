package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/archive"
)

// slack is how much longer than its attempt a ticket is valid: the Job's deadline starts with its Pod, and clocks differ.
const slack = 10 * time.Minute

// Issue makes the ticket of one attempt on the archive at key. order.Valid is how long the attempt may take.
func (c *Client) Issue(ctx context.Context, secret types.NamespacedName, key string, order archive.Order) (ticket archive.Ticket, err error) {
	err = c.askFor(ctx, secret, key, func(ctx context.Context, store opened, key archive.Key) (err error) {
		if order.MaxBytes > 0 && store.misaddressed != nil {
			return store.misaddressed
		}
		order.Key = key
		order.Valid += slack
		ticket, err = store.Issue(ctx, order)
		if order.MaxBytes > 0 {
			ticket.Recipients = store.recipients
		}
		return err
	})
	return ticket, err
}

// Revoke aborts the upload of a ticket and deletes the mover's progress note. An upload that is not aborted cannot harm
// stored data; the collection removes it.
func (c *Client) Revoke(ctx context.Context, secret types.NamespacedName, ticket archive.Ticket) error {
	return c.ask(ctx, secret, func(ctx context.Context, store opened) error {
		err := store.Revoke(ctx, ticket)
		key, invalid := archive.ParseKey(ticket.Key)
		if ticket.Attempt == "" || invalid != nil {
			return err
		}
		return errors.Join(err, archive.DropNote(ctx, store.Issuer, key))
	})
}

// Keep marks an archive as kept on purpose, by the deletion of the Workspace of a name.
func (c *Client) Keep(ctx context.Context, secret types.NamespacedName, key, workspace string) error {
	return c.askFor(ctx, secret, key, func(ctx context.Context, store opened, key archive.Key) error {
		return archive.Keep(ctx, store.Issuer, key, secret.Namespace, workspace)
	})
}

// Unname ends what is found by the name of a Workspace, and returns the archives, the newest first. They stay.
func (c *Client) Unname(ctx context.Context, secret types.NamespacedName, workspace string) (kept []archive.Key, err error) {
	err = c.ask(ctx, secret, func(ctx context.Context, store opened) (err error) {
		kept, err = archive.Unname(ctx, store.Issuer, secret.Namespace, workspace)
		return err
	})
	return kept, err
}

// Progress reads the progress note of the mover of an attempt, with one request. It is unknown (false) before the mover's
// first note, which it writes after ten seconds.
func (c *Client) Progress(ctx context.Context, secret types.NamespacedName, key, attempt string) (note archive.Progress, known bool, err error) {
	err = c.askFor(ctx, secret, key, func(ctx context.Context, store opened, key archive.Key) (err error) {
		note, known, err = archive.ReadNote(ctx, store.Issuer, key, attempt)
		return err
	})
	return note, known, err
}

// Uploaded returns how many bytes the mover with a ticket has stored, with one request per thousand parts of 32 MiB. It is
// unknown (false) for tickets to restore, for finished uploads and for stores that are folders.
func (c *Client) Uploaded(ctx context.Context, secret types.NamespacedName, ticket archive.Ticket) (bytes int64, known bool, err error) {
	err = c.ask(ctx, secret, func(ctx context.Context, store opened) (err error) {
		bytes, known, err = archive.Uploaded(ctx, store.Issuer, ticket)
		return err
	})
	return bytes, known, err
}

// maxArchives is how many archives of one Workspace are considered. Any number of them, from stores that call at the same
// time, fits into memory.
const maxArchives = 10000

var errArchives = errors.New("the store lists too many archives of this Workspace")

// newestFirst lists the archives of a Workspace that have a marker.
func newestFirst(ctx context.Context, store archive.Store, uid string) ([]archive.Key, error) {
	var found []archive.Object
	keys := map[string]archive.Key{}
	for object, err := range store.List(ctx, archive.Root+uid+"/") {
		if err != nil {
			return nil, err
		}
		if key, marker, err := archive.ParseObject(object.Name); err == nil && marker {
			if len(found) == maxArchives {
				return nil, fmt.Errorf("%w: %w", archive.ErrUnreachable, errArchives)
			}
			found, keys[object.Name] = append(found, object), key
		}
	}
	slices.SortFunc(found, func(a, b archive.Object) int { return b.Modified.Compare(a.Modified) })
	sorted := make([]archive.Key, len(found))
	for i, object := range found {
		sorted[i] = keys[object.Name]
	}
	return sorted, nil
}
