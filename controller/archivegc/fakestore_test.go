package archivegc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
)

// memory is a store that answers immediately. Names in locked cannot be deleted.
type memory struct {
	archive.Issuer
	objects map[string][]byte
	written map[string]time.Time
	locked  map[string]bool
}

// inMemory gives a stage such a store.
func inMemory(s *stage) *memory {
	m := &memory{objects: map[string][]byte{}, written: map[string]time.Time{}, locked: map[string]bool{}}
	s.store = m
	s.date = func(name string, at time.Time) error { m.written[name] = at; return nil }
	s.collector.Open = func(map[string][]byte, connect.Options) (archive.Issuer, error) { return m, nil }
	return m
}

func (m *memory) HeadBucket(context.Context) error { return nil }

func (m *memory) Head(_ context.Context, name string) (archive.Object, error) {
	body, ok := m.objects[name]
	if !ok {
		return archive.Object{}, archive.ErrNotFound
	}
	return archive.Object{Name: name, Size: int64(len(body))}, nil
}

func (m *memory) Get(ctx context.Context, name string) (io.ReadCloser, archive.Object, error) {
	object, err := m.Head(ctx, name)
	return io.NopCloser(bytes.NewReader(m.objects[name])), object, err
}

func (m *memory) Put(_ context.Context, name string, body []byte) error {
	if _, ok := m.objects[name]; ok {
		return archive.ErrExists
	}
	m.objects[name] = body
	return nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	if m.locked[name] {
		return fmt.Errorf("%s: %w: it is locked", name, archive.ErrDenied)
	}
	delete(m.objects, name)
	return nil
}

func (m *memory) List(_ context.Context, prefix string) iter.Seq2[archive.Object, error] {
	return func(yield func(archive.Object, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(m.objects)) {
			if strings.HasPrefix(name, prefix) && !yield(archive.Object{Name: name, Modified: m.written[name]}, nil) {
				return
			}
		}
	}
}

// An archive that the store refuses to delete is reported, and does not block the others.
func TestALockedArchive(t *testing.T) {
	s := newStage(t, map[string][]byte{connect.Folder: []byte("/in/memory")}).withLedger()
	m := inMemory(s)
	s.workspace("ann")
	orphans := s.orphans(3)
	m.locked[orphans[1].Marker()] = true
	s.cycle(0)
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchiveGCFailed", "ArchivesDeleted"}) {
		t.Errorf("events %v", reasons)
	}
	if s.has(orphans[0]) || !s.has(orphans[1]) || s.has(orphans[2]) {
		t.Errorf("stored: %v", s.stored())
	}
	delete(m.locked, orphans[1].Marker())
	if s.cycle(2 * time.Hour); s.has(orphans[1]) {
		t.Error("the two hours restarted when it was unlocked")
	}
}
