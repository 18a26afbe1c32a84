package mover

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

// cut is a store that fails at one call and from then on: for its caller, as if it had
// been killed at that point.
type cut struct {
	archive.MoverStore
	at    int  // calls that still succeed
	after bool // the failing call has been executed
	err   error
}

func (c *cut) call(do func() error) error {
	c.at--
	if c.at < -1 || c.at == -1 && !c.after {
		return c.err
	}
	err := do()
	if c.at == -1 {
		return c.err
	}
	return err
}

func (c *cut) Head(ctx context.Context, name string) (object archive.Object, err error) {
	err = c.call(func() (err error) { object, err = c.MoverStore.Head(ctx, name); return err })
	return object, err
}

func (c *cut) Get(ctx context.Context, name string) (body io.ReadCloser, object archive.Object, err error) {
	err = c.call(func() (err error) { body, object, err = c.MoverStore.Get(ctx, name); return err })
	return body, object, err
}

func (c *cut) Put(ctx context.Context, name string, content []byte) error {
	return c.call(func() error { return c.MoverStore.Put(ctx, name, content) })
}

func (c *cut) PutStream(ctx context.Context, name string, body io.Reader) error {
	return c.call(func() error { return c.MoverStore.PutStream(ctx, name, body) })
}

// Killed before or after any request, the next run finishes; what it leaves is never mistaken for a
// committed archive unless it is one.
func TestKilledAtEveryRequest(t *testing.T) {
	from := volume(t, someHome)
	want := tree(t, from)
	killed := errors.New("killed")
	for at := 0; ; at++ {
		for _, after := range []bool{false, true} {
			store := filestore.New(t.TempDir())
			through := &cut{MoverStore: store, at: at, after: after, err: killed}
			_, err := Archive(t.Context(), archiving(through, from))
			if err == nil {
				if at < 5 {
					t.Fatalf("only %d requests were made", at)
				}
				return
			}
			if _, err := archive.ReadMarker(t.Context(), store, key); err == nil {
				committed(t, store, want)
			}
			if _, err := Archive(t.Context(), archiving(store, from)); err != nil {
				t.Fatalf("the run after request %d (%v): %v", at, after, err)
			}
			committed(t, store, want)
		}
	}
}

// late is a zombie: its writes arrive when another mover has finished.
type late struct {
	archive.MoverStore
	before func()
}

func (l *late) Put(ctx context.Context, name string, content []byte) error {
	l.before()
	return l.MoverStore.Put(ctx, name, content)
}

func (l *late) PutStream(ctx context.Context, name string, body io.Reader) error {
	var all bytes.Buffer
	if _, err := all.ReadFrom(body); err != nil {
		return err
	}
	l.before()
	return l.MoverStore.PutStream(ctx, name, &all)
}

// D7: a zombie that uploads other bytes, after the archive was committed and the volume is gone,
// changes nothing.
func TestALateMoverChangesNothing(t *testing.T) {
	from, old, store := volume(t, someHome), volume(t, map[string]string{"home/old": "x"}), filestore.New(t.TempDir())
	want := tree(t, from)
	commit := sync.OnceFunc(func() {
		if _, err := Archive(t.Context(), archiving(store, from)); err != nil {
			t.Error(err)
		}
	})
	zombie := archiving(&late{store, commit}, old)
	if _, err := Archive(t.Context(), zombie); codeOf(err) != ArchiveUnverified {
		t.Errorf("the zombie: %v, want ARCHIVE_UNVERIFIED", err)
	}
	committed(t, store, want)
}
