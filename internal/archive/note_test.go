package archive_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

func TestNotesOverwriteEachOther(t *testing.T) {
	store := filestore.New(t.TempDir())
	count := rapid.Int64Range(0, math.MaxInt64)
	if _, known, err := archive.ReadNote(t.Context(), store, key, "op/1"); known || err != nil {
		t.Errorf("before the first: %t, %v", known, err)
	}
	rapid.Check(t, func(r *rapid.T) {
		want := archive.Progress{
			Attempt: rapid.StringMatching(`[a-z0-9/-]{1,100}`).Draw(r, "attempt"),
			Step:    rapid.SampledFrom([]archive.Step{archive.Packing, archive.Verifying, archive.Unpacking}).Draw(r, "step"),
			Entries: count.Draw(r, "entries"), Bytes: count.Draw(r, "bytes"), OfEntries: count.Draw(r, "of entries"), OfBytes: count.Draw(r, "of bytes"),
		}
		note := want.Note()
		if len(note) != archive.NoteBytes {
			r.Fatalf("the note has %d bytes, want %d", len(note), archive.NoteBytes)
		}
		if err := store.WriteNote(t.Context(), key, note); err != nil {
			r.Fatal(err)
		}
		got, known, err := archive.ReadNote(t.Context(), store, key, want.Attempt)
		if diff := cmp.Diff(want, got); diff != "" || !known || err != nil {
			r.Errorf("%t, %v, -want +got:\n%s", known, err, diff)
		}
		if _, known, err := archive.ReadNote(t.Context(), store, key, want.Attempt+"x"); known || err != nil {
			r.Errorf("another attempt's: %t, %v", known, err)
		}
	})
}

func TestInvalidNotes(t *testing.T) {
	for _, text := range []string{"", "{", "progress", `{"attempt":1}`, `{"attempt":"a","bytes":-1}`, `{"attempt":"a","ofEntries":-1}`, strings.Repeat(" ", archive.NoteBytes) + "{}"} {
		store := filestore.New(t.TempDir())
		if err := store.WriteNote(t.Context(), key, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, known, err := archive.ReadNote(t.Context(), store, key, "a"); known || !errors.Is(err, archive.ErrCorrupt) {
			t.Errorf("%q: %t, %v, want ErrCorrupt", text, known, err)
		}
	}
	missing := filestore.New("/nowhere/at/all")
	_, _, err := archive.ReadNote(t.Context(), missing, key, "a")
	for _, err := range []error{err, missing.WriteNote(t.Context(), key, nil), archive.DropNote(t.Context(), missing, key)} {
		if !errors.Is(err, archive.ErrBucketMissing) {
			t.Errorf("%v, want ErrBucketMissing", err)
		}
	}
}

// A note is never mistaken for an object of the archive, and no other object for a note.
func TestNamesOfNotes(t *testing.T) {
	if got, ok := archive.ParseNote(key.Note()); !ok || got != key || !strings.HasPrefix(key.Note(), key.Folder()) {
		t.Errorf("%s: %v, %t", key.Note(), got, ok)
	}
	if got, _, err := archive.ParseObject(key.Note()); err == nil {
		t.Errorf("it is the archive %v", got)
	}
	for _, name := range []string{key.Data(), key.Marker(), key.KeptMark(), "progress.json", "archives/x/progress.json", key.Note() + "x"} {
		if got, ok := archive.ParseNote(name); ok {
			t.Errorf("%s is the note of %v", name, got)
		}
	}
}

func TestNotesGo(t *testing.T) {
	folder := t.TempDir()
	store := filestore.New(folder)
	note := func() { // next to an object with its name as prefix
		if err := errors.Join(store.WriteNote(t.Context(), key, []byte("{}")), os.WriteFile(filepath.Join(folder, key.Note()+".old"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for what, drop := range map[string]func() error{
		"DropNote": func() error { return archive.DropNote(t.Context(), store, key) },
		"Discard":  func() error { return archive.Discard(t.Context(), store, key) },
	} {
		note()
		if err := errors.Join(drop(), drop()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for object := range store.List(t.Context(), "") {
			if object.Name != key.Note()+".old" {
				t.Errorf("%s: %s is left", what, object.Name)
			}
		}
	}
}
