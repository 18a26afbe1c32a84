package archivegc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// uploadAge is the age at which no mover can still be working on an upload: a ticket is valid for a day at most.
const uploadAge = 24*time.Hour + lifecycle.OrphanAge

// maxDeletions is how many archives of a store are deleted in one cycle. Before each the Workspaces are listed, and a store can name
// any number.
const maxDeletions = 1000

// result is the result of one cycle for one store.
type result struct {
	*store
	// lost: no Secret gives access to the store any more.
	lost bool
	// err ended the work: errForeign, or any failure.
	err     error
	refused lifecycle.Refused
	// due is how many of all archives would be deleted with approval.
	due, all int
	// orphans are the unneeded archives that still exist.
	orphans map[string]time.Time
	// undeleted are errors about archives that the store refuses to delete.
	undeleted error
	// deleted archives, and aborted uploads.
	deleted, aborted int
}

// act claims the store if it has no owner, deletes archives and aborts old uploads.
func (c *Collector) act(ctx context.Context, obs observation, next plan) result {
	r := result{
		store: obs.store, refused: next.Refused, due: next.Due, all: len(obs.archives), orphans: maps.Clone(next.FirstSeen),
	}
	if next.claim {
		if r.err = claim(ctx, obs.client, obs.installation); r.err != nil {
			return r
		}
	}
	for _, key := range next.Victims[:min(len(next.Victims), maxDeletions)] {
		if r.err = c.delete(ctx, obs, key, &r); r.err != nil {
			return r
		}
	}
	if uploads, ok := obs.client.(interface {
		AbortUploads(ctx context.Context, prefix string, before time.Time) (int, error)
	}); ok {
		r.aborted, r.err = uploads.AbortUploads(ctx, archive.Root, obs.now.Add(-uploadAge))
	}
	return r
}

// delete reads the Workspaces again and deletes an archive that is still unneeded.
func (c *Collector) delete(ctx context.Context, obs observation, name string, r *result) error {
	key, err := archive.ParseKey(name)
	if err != nil {
		return nil //nolint:nilerr // not created by Kyklos: it is left alone
	}
	served, err := c.served(ctx, obs.client, key)
	if err != nil || !served {
		return err
	}
	kept, err := archive.IsKept(ctx, obs.client, key)
	if err != nil || kept {
		return err
	}
	references, err := c.references(ctx)
	if err != nil || !lifecycle.StillOrphan(name, obs.archives, references) {
		delete(r.orphans, name) // it is needed, or that is unknown
		return err
	}
	err = obs.discard(ctx, key)
	switch {
	case errors.Is(err, archive.ErrDenied): // such as a locked object: the others may be deleted
		r.undeleted = errors.Join(r.undeleted, fmt.Errorf("delete %s: %w", name, err))
		return nil
	case err != nil:
		return fmt.Errorf("delete %s: %w", name, err)
	}
	c.Log.Info("Deleted an unneeded archive", "store", r.address, "key", name)
	delete(r.orphans, name)
	r.deleted++
	return nil
}

// discard deletes an archive, and before it all names that lead to it: a clone that was deleted before it had archived anything has
// one, too.
func (o observation) discard(ctx context.Context, key archive.Key) error {
	for _, name := range o.names[key] {
		if err := o.client.Delete(ctx, name); err != nil {
			return err
		}
	}
	return archive.Discard(ctx, o.client, key)
}

// served is false for an archive of a Workspace in a namespace that is not served: that Workspace is not in the list
// and may well exist. An archive without a marker was never finished.
func (c *Collector) served(ctx context.Context, store archive.Reader, key archive.Key) (bool, error) {
	if len(c.Namespaces) == 0 {
		return true, nil
	}
	marker, err := archive.ReadMarker(ctx, store, key)
	switch {
	case errors.Is(err, archive.ErrNotFound):
		return true, nil
	case errors.Is(err, archive.ErrCorrupt):
		return false, nil
	case err != nil:
		return false, err
	}
	namespace, _, _ := strings.Cut(marker.Workspace, "/")
	return slices.Contains(c.Namespaces, namespace), nil
}
