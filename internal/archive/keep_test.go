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
	for name, want := range map[string]bool{
		key.NameMark("team", "ann"): true, key.NameMark("team", "ann") + "/x": false, key.NameMark("team", ""): true, key.Data(): false, "archives/named/team/ann/x/y": false,
	} {
		if got, ok := archive.ParseNameMark(name); ok != want || ok && got != key {
			t.Errorf("%s is a name: %t, of %v", name, ok, got)
		}
	}
}

// Nothing is found by the name any more, but the archives stay, and other names lead to them.
func TestUnname(t *testing.T) {
	store := filestore.New(t.TempDir())
	for _, name := range []string{"ann", "anna"} {
		if err := archive.Keep(t.Context(), store, key, "team", name); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{1, 0} {
		if kept, err := archive.Unname(t.Context(), store, "team", "ann"); err != nil || len(kept) != want {
			t.Errorf("%v, %v, want %d", kept, err, want)
		}
	}
	if kept, err := archive.IsKept(t.Context(), store, key); err != nil || !kept {
		t.Errorf("kept: %v, %v", kept, err)
	}
	for name, want := range map[string]bool{"ann": false, "anna": true} {
		if kept, err := archive.IsKeptAs(t.Context(), store, key, "team", name); err != nil || kept != want {
			t.Errorf("kept as %s: %v, %v", name, kept, err)
		}
	}
	if others, err := archive.Named(t.Context(), store, "team", "anna"); err != nil || len(others) != 1 {
		t.Errorf("%v, %v", others, err)
	}
	if _, err := archive.Unname(t.Context(), filestore.New(t.TempDir()+"/missing"), "team", "ann"); err == nil {
		t.Error("no error")
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
