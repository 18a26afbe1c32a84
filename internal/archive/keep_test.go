package archive_test

import (
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

func TestKeptArchivesAreMarked(t *testing.T) {
	store := filestore.New(t.TempDir())
	for _, want := range []bool{false, true, true} {
		got, err := archive.IsKept(t.Context(), store, key)
		if err != nil || got != want {
			t.Errorf("kept: %v, %v, want %v", got, err, want)
		}
		if err := archive.Keep(t.Context(), store, key, "team", "ann"); err != nil {
			t.Errorf("Keep: %v", err)
		}
	}
	if marked, ok := archive.ParseKeptMark(key.KeptMark()); !ok || marked != key {
		t.Errorf("the mark %s is of %v, %v", key.KeptMark(), marked, ok)
	}
	for _, name := range []string{"kept", key.Data(), key.Marker(), "archives/x/y/kept", key.KeptMark() + "x"} {
		if marked, ok := archive.ParseKeptMark(name); ok {
			t.Errorf("%s is not a mark, got %v", name, marked)
		}
	}
	if _, _, err := archive.ParseObject(key.KeptMark()); err == nil {
		t.Error("the mark is taken for an object of the archive")
	}
}

func TestAnUnreachableStoreHasUnknownMarks(t *testing.T) {
	store := filestore.New(t.TempDir() + "/missing")
	if _, err := archive.IsKept(t.Context(), store, key); err == nil {
		t.Error("IsKept: no error")
	}
	if err := archive.Keep(t.Context(), store, key, "team", "ann"); err == nil {
		t.Error("Keep: no error")
	}
}
