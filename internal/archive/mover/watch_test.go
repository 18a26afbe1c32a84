package mover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/home"
)

// held is a store whose data stops at one place until the test releases it.
type held struct {
	archive.MoverStore
	at     int64
	opened chan struct{}
}

func (h *held) Get(ctx context.Context, name string) (io.ReadCloser, archive.Object, error) {
	body, object, err := h.MoverStore.Get(ctx, name)
	if err != nil || name != key.Data() {
		return body, object, err
	}
	rest := readerFunc(func(into []byte) (int, error) { <-h.opened; return body.Read(into) })
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(body, h.at), rest), body}, object, nil
}

func (h *held) PutStream(ctx context.Context, name string, body io.Reader) error {
	rest := readerFunc(func(into []byte) (int, error) { <-h.opened; return body.Read(into) })
	return h.MoverStore.PutStream(ctx, name, io.MultiReader(io.LimitReader(body, h.at), rest))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }

// A mover that is held in the middle reports its progress and the total once, and continues even without its
// notes.
func TestMoverProgress(t *testing.T) {
	from, folder := volume(t, noisyHome()), t.TempDir()
	all, err := home.Measure(t.Context(), opened(t, from))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		step archive.Step
		run  func(context.Context, Job) (Result, error)
		job  Job
	}{
		{archive.Packing, Archive, archiving(filestore.New(folder), from)},
		{archive.Unpacking, Restore, restoring(filestore.New(folder), t.TempDir())},
	} {
		t.Run(string(test.step), func(t *testing.T) {
			store := &held{test.job.Store, 4 << 20, make(chan struct{})}
			test.job.Store = store
			open := sync.OnceFunc(func() { close(store.opened) })
			var last archive.Progress
			quiet := 0
			stop := test.job.Watch(t.Context(), time.Millisecond, func(ctx context.Context, now archive.Progress) {
				if now == last || now.Step == last.Step && (now.Bytes < last.Bytes || now.Entries < last.Entries) {
					t.Errorf("%+v after %+v", now, last)
				}
				if last = now; now.Step == test.step && now.Bytes > 1<<20 && now.OfBytes == all.Bytes && now.Bytes < all.Bytes {
					quiet++
					open()
				}
				if quiet > 3 {
					<-ctx.Done() // a store that never answers delays nothing
				}
			})
			result, err := test.run(t.Context(), test.job)
			stop()
			if err != nil || result.Bytes != all.Bytes || quiet == 0 || last.OfEntries != all.Entries {
				t.Errorf("%+v, %v; it reported the middle %d times, and at last %+v of %+v", result, err, quiet, last, all)
			}
		})
	}
}

// noisyHome is one that does not compress, in more than the mover reads ahead.
func noisyHome() map[string]string {
	files, content, noise := map[string]string{}, make([]byte, 1<<20), rand.NewChaCha8([32]byte{})
	for i := range 12 {
		_, _ = noise.Read(content)
		files[fmt.Sprint("home/", i)] = string(content)
	}
	return files
}

// An operation that fails early, or never starts, reports nothing, and its watch ends.
func TestAWatchEnds(t *testing.T) {
	job := archiving(&cut{MoverStore: filestore.New(t.TempDir()), err: archive.ErrDenied}, t.TempDir())
	stop := job.Watch(t.Context(), time.Microsecond, func(_ context.Context, progress archive.Progress) { t.Errorf("reported %+v", progress) })
	if _, err := Archive(t.Context(), job); codeOf(err) != StoreAccess {
		t.Error(err)
	}
	stop()
}

// The notes go where the ticket says, and do not change the archive; a ticket of an earlier version has none.
func TestNotesByTickets(t *testing.T) {
	_, store := s3(t)
	folder := filestore.New(t.TempDir())
	for name, issuer := range map[string]archive.Issuer{"S3": store, "a folder": folder} {
		t.Run(name, func(t *testing.T) {
			from := volume(t, someHome)
			for _, attempt := range []string{"", "op/1"} {
				ticket, err := issuer.Issue(t.Context(), archive.Order{Key: key, MaxBytes: 1 << 20, Attempt: attempt, Now: time.Now(), Valid: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				mover, _, err := Open(ticket)
				if err != nil {
					t.Fatal(err)
				}
				note := Noter(ticket, mover)
				if (note != nil) != (attempt != "") {
					t.Fatalf("attempt %q: it can write notes: %t", attempt, note != nil)
				}
				if note == nil {
					continue
				}
				for _, bytes := range []int64{1, 2} {
					if err := note(t.Context(), archive.Progress{Step: archive.Packing, Bytes: bytes}); err != nil {
						t.Fatal(err)
					}
					got, known, err := archive.ReadNote(t.Context(), issuer, key, "op/1")
					if want := (archive.Progress{Attempt: "op/1", Step: archive.Packing, Bytes: bytes}); got != want || !known || err != nil {
						t.Errorf("%+v, %t, %v, want %+v", got, known, err, want)
					}
				}
				if _, err := Archive(t.Context(), archiving(mover, from)); err != nil {
					t.Fatal(err)
				}
				committed(t, mover, tree(t, from))
				if err := errors.Join(archive.DropNote(t.Context(), issuer, key), issuer.Revoke(t.Context(), ticket)); err != nil {
					t.Error(err)
				}
				committed(t, mover, tree(t, from))
			}
		})
	}
}
