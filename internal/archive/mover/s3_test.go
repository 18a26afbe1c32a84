package mover

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/archive/home"
	"kyklos.io/kyklos/internal/archive/s3store"
	"kyklos.io/kyklos/test/harness"
)

// s3 is a real S3 server, and the operator's view of it.
func s3(t *testing.T) (*harness.ObjectStore, *s3store.Store) {
	t.Helper()
	server, err := harness.StartObjectStore(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Kill() })
	store, err := s3store.New(s3store.Config{Endpoint: server.Endpoint, Bucket: server.Bucket, AccessKeyID: server.AccessKeyID, SecretAccessKey: server.SecretAccessKey, Allowed: endpoints.Local})
	if err != nil {
		t.Fatal(err)
	}
	return server, store
}

// ticketed is a mover's view of it. Each mover has its own ticket.
func ticketed(t *testing.T, store archive.Issuer, maxBytes int64) archive.MoverStore {
	t.Helper()
	ticket, err := store.Issue(t.Context(), archive.Order{Key: key, MaxBytes: maxBytes, Now: time.Now(), Valid: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	mover, _, err := Open(ticket)
	if err != nil {
		t.Fatal(err)
	}
	return mover
}

func TestThereAndBackByTickets(t *testing.T) {
	_, store := s3(t)
	from, to := volume(t, someHome), t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := Archive(t.Context(), archiving(ticketed(t, store, 1<<20), from)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	committed(t, store, tree(t, from))
	if _, err := Restore(t.Context(), restoring(ticketed(t, store, 0), to)); err != nil || tree(t, to) != tree(t, from) {
		t.Errorf("%v, the homes are the same: %v", err, err == nil && tree(t, to) == tree(t, from))
	}
	if err := archive.Discard(t.Context(), store, key); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), restoring(ticketed(t, store, 0), t.TempDir())); codeOf(err) != MetaNotFound {
		t.Errorf("%v, want META_NOT_FOUND", err)
	}
}

// The store is killed while the mover packs, or while it reads back. Nothing is committed, and the next run,
// with the store up again, succeeds.
func TestTheStoreIsKilled(t *testing.T) {
	for _, step := range []archive.Step{archive.Packing, archive.Verifying} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			server, store := s3(t)
			from := volume(t, someHome)
			job := archiving(ticketed(t, store, 1<<20), from)
			kill := sync.OnceValue(server.Kill)
			job.Report = func(now archive.Step, _ home.Progress, _ func() home.Progress) {
				if now == step {
					if err := kill(); err != nil {
						t.Error(err)
					}
				}
			}
			if _, err := Archive(t.Context(), job); codeOf(err) != StoreAccess {
				t.Errorf("%v, want S3_ACCESS_ERROR", err)
			}
			if err := server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := archive.ReadMarker(t.Context(), store, key); !errors.Is(err, archive.ErrNotFound) {
				t.Errorf("%v, want no marker", err)
			}
			if _, err := Archive(t.Context(), archiving(ticketed(t, store, 1<<20), from)); err != nil {
				t.Error(err)
			}
			committed(t, store, tree(t, from))
		})
	}
}

// Tampering with the stored file is detected by the archiving and the restoring mover.
func TestTheStoredFileIsDamaged(t *testing.T) {
	server, store := s3(t)
	from := volume(t, someHome)
	if _, err := Archive(t.Context(), archiving(ticketed(t, store, 1<<20), from)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(server.Folder, key.Data())
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte("damage"), 1000); errors.Join(err, file.Close()) != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := Restore(t.Context(), restoring(ticketed(t, store, 0), to)); codeOf(err) != ChecksumMismatch {
		t.Errorf("%v, want CHECKSUM_MISMATCH", err)
	}
	nothingRestored(t, to)
	if err := store.Delete(t.Context(), key.Marker()); err != nil { // as if the mover had been killed before it
		t.Fatal(err)
	}
	if _, err := Archive(t.Context(), archiving(ticketed(t, store, 1<<20), from)); codeOf(err) != ArchiveUnverified {
		t.Errorf("%v, want ARCHIVE_UNVERIFIED", err)
	}
}
