package archivegc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// observation is everything that was read about one store.
type observation struct {
	*store
	client archive.Store
	// installation is this installation's id; owned is false while the store has no owner.
	installation string
	owned        bool
	now          time.Time
	archives     []lifecycle.Object
	// names are the objects by which each archive is found by a Workspace's name.
	names map[archive.Key][]string
	// references were listed after the archives.
	references []lifecycle.Reference
}

// survey finds the stores and this installation's id.
func (c *Collector) survey(ctx context.Context, l ledger) (stores map[string]*store, installation string, err error) {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return nil, "", err
	}
	if stores, err = c.stores(ctx, workspaces, l.stores); err != nil || len(stores) == 0 {
		return stores, "", err
	}
	// The namespace's UID differs between clusters, and between two managers in one cluster.
	namespace := &corev1.Namespace{}
	if err := c.Live.Get(ctx, client.ObjectKey{Name: c.Namespace}, namespace); err != nil {
		return nil, "", fmt.Errorf("get the manager's namespace: %w", err)
	}
	return stores, string(namespace.UID), nil
}

// observe reads the owner of a store, its archives, and then the Workspaces.
func (c *Collector) observe(ctx context.Context, s *store, installation string) (obs observation, err error) {
	obs = observation{store: s, installation: installation}
	if obs.client, err = c.open(ctx, s); err != nil {
		return obs, err
	}
	if obs.owned, err = ownedBy(ctx, obs.client, installation); err != nil {
		return obs, err
	}
	obs.now = c.Clock.Now()
	if obs.archives, obs.names, err = list(ctx, obs.client); err != nil {
		return obs, fmt.Errorf("list archives: %w", err)
	}
	obs.references, err = c.references(ctx)
	return obs, err
}

// open returns a client for the store with the first Secret that works.
func (c *Collector) open(ctx context.Context, s *store) (archive.Store, error) {
	var failed error
	for _, name := range slices.Sorted(maps.Keys(s.secrets)) {
		options := c.Stores
		options.Namespace, _, _ = strings.Cut(name, "/")
		opened, err := c.Open(s.secrets[name], options)
		if err == nil {
			err = opened.HeadBucket(ctx)
		}
		if err == nil {
			return opened, nil
		}
		failed = errors.Join(failed, fmt.Errorf("with Secret %s: %w", name, err))
	}
	return nil, failed
}

// list returns all archives of a store, in the order of their keys, and what they are found by.
func list(ctx context.Context, store archive.Store) ([]lifecycle.Object, map[archive.Key][]string, error) {
	var objects []lifecycle.Object
	names := map[archive.Key][]string{}
	for stored, err := range store.List(ctx, archive.Root) {
		if err != nil {
			return nil, nil, err
		}
		if key, ok := archive.ParseNameMark(stored.Name); ok {
			names[key] = append(names[key], stored.Name)
			continue
		}
		key, marker, err := archive.ParseObject(stored.Name)
		kept, note := false, false
		if err != nil {
			if key, kept = archive.ParseKeptMark(stored.Name); !kept {
				key, note = archive.ParseNote(stored.Name)
			}
			if !kept && !note {
				continue // not created by Kyklos
			}
		}
		if last := len(objects) - 1; last < 0 || objects[last].Key != key.Data() {
			objects = append(objects, lifecycle.Object{Key: key.Data()})
		}
		object := &objects[len(objects)-1] // an archive's objects share a folder, so they are listed together
		switch {
		case kept:
			object.Kept = true
		case marker:
			object.Committed = true
		case note && !object.ModifiedAt.IsZero():
			// A mover's note does not change the age of its archive.
		default:
			object.ModifiedAt = stored.Modified
		}
	}
	return objects, names, nil
}
