package filestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/storetest"
)

func TestContract(t *testing.T) {
	folder := t.TempDir()
	storetest.Contract(t, New(folder), 3<<20)
	if drafts, err := os.ReadDir(filepath.Join(folder, unfinished)); err != nil || len(drafts) > 0 {
		t.Errorf("%v, left behind: %v", err, drafts)
	}
}

func TestAMissingFolderIsAMissingBucket(t *testing.T) {
	store := New(filepath.Join(t.TempDir(), "unmounted"))
	_, head := store.Head(t.Context(), "a")
	_, _, get := store.Get(t.Context(), "a")
	var list error
	for _, err := range store.List(t.Context(), "") {
		list = err
	}
	for what, err := range map[string]error{
		"HeadBucket": store.HeadBucket(t.Context()), "Head": head, "Get": get, "List": list,
		"Put": store.Put(t.Context(), "a", nil), "Delete": store.Delete(t.Context(), "a"),
	} {
		if !errors.Is(err, archive.ErrBucketMissing) {
			t.Errorf("%s: %v, want ErrBucketMissing", what, err)
		}
	}
}

func TestNamesStayInside(t *testing.T) {
	around := t.TempDir()
	folder := filepath.Join(around, "store")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(around, filepath.Join(folder, "out")); err != nil {
		t.Fatal(err)
	}
	store := New(folder)
	for _, name := range []string{"", ".", "..", "../a", "a/../../b", "/a", "a//b", "a/", unfinished + "/a", "out/a"} {
		if err := store.Put(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	if entries, _ := os.ReadDir(around); len(entries) != 1 {
		t.Errorf("something was written outside: %v", entries)
	}
}

func TestStopsWhenCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	store := New(t.TempDir())
	if err := store.PutStream(ctx, "a", strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it cancelled", err)
	}
	if _, err := store.Head(t.Context(), "a"); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}
