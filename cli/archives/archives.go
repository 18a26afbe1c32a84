// Package archives lists the archives of a Workspace's homes in its store.
package archives

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kyklos.io/kyklos/internal/archive"
)

// Archive is one archived home.
type Archive struct {
	Key string `json:"key"`
	// Time is when the archive was complete, by the store's clock.
	Time time.Time `json:"time"`
	// SizeBytes is the size of the object, SHA256 its sum: sha256: and 64 digits.
	SizeBytes int64  `json:"sizeBytes"`
	SHA256    string `json:"sha256"`
	// Kept: it was kept on purpose when its Workspace was deleted, so that it is never collected.
	Kept bool `json:"kept"`
	// EncryptedFor has the fingerprints of the recipients, separated by commas; empty if it is not encrypted.
	EncryptedFor string `json:"encryptedFor,omitempty"`
}

// reads is how many markers are read at the same time.
const reads = 16

// List returns the complete archives of the Workspaces of this name, also of deleted ones, the newest first. It reads the marker of
// every archive in the store, since only that says whose it is.
func List(ctx context.Context, store archive.Store, namespace, name string) ([]Archive, error) {
	markers, kept := map[archive.Key]archive.Object{}, map[archive.Key]bool{}
	for object, err := range store.List(ctx, archive.Root) {
		if err != nil {
			return nil, err
		}
		if key, ok := archive.ParseKeptMark(object.Name); ok {
			kept[key] = true
		} else if key, marker, err := archive.ParseObject(object.Name); err == nil && marker {
			markers[key] = object
		}
	}
	var found []Archive
	var lock sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reads)
	for key, object := range markers {
		group.Go(func() error {
			marker, err := archive.ReadMarker(ctx, store, key)
			if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrCorrupt) || err == nil && marker.Workspace != namespace+"/"+name {
				return nil
			}
			lock.Lock()
			defer lock.Unlock()
			found = append(found, Archive{key.Data(), object.Modified.UTC(), marker.Size, marker.Sum(), kept[key], marker.ShownEncryptedFor()})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Archive) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Key, b.Key)) })
	return found, nil
}
