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

// uploadAge is how old an upload is that no mover can be working on: a ticket lasts a day at most.
const uploadAge = 24*time.Hour + lifecycle.OrphanAge

// result is what became of one store in one cycle.
type result struct {
	id, address string
	// lost: no Secret leads there any more.
	lost bool
	// err ended the look: errForeign, or whatever failed.
	err     error
	refused lifecycle.Refused
	// due is how many archives would go if a person allowed it, of all.
	due, all int
	// orphans are those that nobody needs, the ones that are gone left out.
	orphans map[string]time.Time
	// undeleted says which archives the store does not let go.
	undeleted error
	// deleted archives, and uploads that were ended.
	deleted, ended int
}

// sweep goes through one store. seen tells since when keys are not needed, allowed how many may go at
// once.
func (c *Collector) sweep(ctx context.Context, p *place, own string, e entry, allowed int) result {
	r := result{id: p.id, address: p.address}
	store, err := c.open(ctx, p)
	if err == nil {
		err = claim(ctx, store, own)
	}
	if err != nil {
		r.err = err
		return r
	}
	now := c.Clock.Now()
	objects, err := list(ctx, store)
	if err != nil {
		r.err = fmt.Errorf("list the archives: %w", err)
		return r
	}
	keepers, err := c.keepers(ctx) // after the archives: see the package's comment
	if err != nil {
		r.err = err
		return r
	}
	decision := lifecycle.Collect(lifecycle.CollectInput{
		Now: now, Objects: objects, References: keepers, Synced: true, Allowed: allowed,
		FirstSeen: e.firstSeen(keysOf(objects), c.Interval, now),
	})
	r.refused, r.due, r.all, r.orphans = decision.Refused, decision.Due, len(objects), maps.Clone(decision.FirstSeen)
	for _, key := range decision.Victims {
		if r.err = c.delete(ctx, store, key, objects, &r); r.err != nil {
			return r
		}
	}
	if uploads, ok := store.(interface {
		AbortUploads(ctx context.Context, prefix string, before time.Time) (int, error)
	}); ok {
		r.ended, r.err = uploads.AbortUploads(ctx, archive.Root, now.Add(-uploadAge))
	}
	return r
}

// delete takes a last look, and deletes.
func (c *Collector) delete(ctx context.Context, store archive.Store, name string, objects []lifecycle.Object, r *result) error {
	key, err := archive.ParseKey(name)
	if err != nil {
		return nil //nolint:nilerr // not of our making: it is left alone
	}
	served, err := c.served(ctx, store, key)
	if err != nil || !served {
		return err
	}
	kept, err := archive.IsKept(ctx, store, key)
	if err != nil || kept {
		return err
	}
	keepers, err := c.keepers(ctx)
	if err != nil || !lifecycle.StillOrphan(name, objects, keepers) {
		delete(r.orphans, name) // somebody needs it, or nobody knows
		return err
	}
	err = archive.Discard(ctx, store, key)
	if errors.Is(err, archive.ErrDenied) { // such as an object that is locked: the others may go
		r.undeleted = errors.Join(r.undeleted, fmt.Errorf("delete %s: %w", name, err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	c.Log.Info("Deleted an archive that nobody needs", "store", r.address, "key", name)
	delete(r.orphans, name)
	r.deleted++
	return nil
}

// served is false for the archive of a Workspace in a namespace that is not served, any more or yet: it is
// not in the list of Workspaces, and may well be there. One without a marker was never finished.
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

// open returns the store at p by the first Secret that works.
func (c *Collector) open(ctx context.Context, p *place) (archive.Store, error) {
	var failed error
	for _, name := range slices.Sorted(maps.Keys(p.secrets)) {
		store, err := c.Open(p.secrets[name], c.Stores)
		if err == nil {
			err = store.HeadBucket(ctx)
		}
		if err == nil {
			return store, nil
		}
		failed = errors.Join(failed, fmt.Errorf("by the Secret %s: %w", name, err))
	}
	return nil, failed
}

// list returns all archives of a store, in the order of their keys.
func list(ctx context.Context, store archive.Store) ([]lifecycle.Object, error) {
	var objects []lifecycle.Object
	for stored, err := range store.List(ctx, archive.Root) {
		if err != nil {
			return nil, err
		}
		key, marker, err := archive.ParseObject(stored.Name)
		kept, note := false, false
		if err != nil {
			if key, kept = archive.ParseKeptMark(stored.Name); !kept {
				key, note = archive.ParseNote(stored.Name)
			}
			if !kept && !note {
				continue // not of our making
			}
		}
		if last := len(objects) - 1; last < 0 || objects[last].Key != key.Data() {
			objects = append(objects, lifecycle.Object{Key: key.Data()})
		}
		object := &objects[len(objects)-1] // one archive's objects follow each other: they share a folder
		switch {
		case kept:
			object.Kept = true
		case marker:
			object.Committed = true
		case note && !object.ModifiedAt.IsZero():
			// Beside an archive, a note that a mover has left says nothing of its age.
		default:
			object.ModifiedAt = stored.Modified
		}
	}
	return objects, nil
}

func keysOf(objects []lifecycle.Object) []string {
	keys := make([]string, len(objects))
	for i := range objects {
		keys[i] = objects[i].Key
	}
	return keys
}
