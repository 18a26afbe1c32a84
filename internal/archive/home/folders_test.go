package home

import (
	"archive/tar"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Attributes of folders are kept in memory until a folder has all its entries, but not longer: they may be 64 KiB for each.
func TestFoldersAreNotAllKept(t *testing.T) {
	u := newUnpacker(open(t, t.TempDir()))
	defer u.leave()
	for i := range 100 {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: fmt.Sprintf("%03d/", i), Mode: 0o755, PAXRecords: map[string]string{"comment": strings.Repeat("x", folderMemory/10)}}
		if err := u.visit(header, nil); err != nil {
			t.Fatal(err)
		}
		if len(u.folders) > 11 {
			t.Fatalf("%d are kept", len(u.folders))
		}
	}
}

// What is finished before the end is as it was: its time, its mode, and the files in it that have other names later.
func TestFoldersThatAreFinishedEarly(t *testing.T) {
	folder := t.TempDir()
	t.Cleanup(func() { writable(folder) })
	large := strings.Repeat("x", 3<<10)
	for i := range 30 {
		inner := filepath.Join(folder, fmt.Sprintf("%02d", i), "inner", "most")
		file := filepath.Join(inner, "file")
		if err := errors.Join(os.MkdirAll(inner, 0o755), os.WriteFile(file, []byte("work"), 0o600), os.Link(file, filepath.Join(folder, fmt.Sprint("link", i)))); err != nil {
			t.Fatal(err)
		}
		for at := inner; at != folder; at = filepath.Dir(at) {
			set(t, at, "user.large", large)
			if err := errors.Join(os.Chtimes(at, time.Unix(1e9, 5), time.Unix(1e9, 5)), os.Chmod(at, 0o500)); err != nil {
				t.Fatal(err)
			}
		}
	}
	stream, want := packed(t, folder)
	original := folderMemory
	t.Cleanup(func() { folderMemory = original })
	for _, folderMemory = range []int{1, 20 << 10, original} {
		got, err := Survey(t.Context(), open(t, unpacked(t, stream)))
		if err != nil || got.Tree != want.Tree {
			t.Errorf("with %d bytes: %+v, %v, want %+v", folderMemory, got, err, want)
		}
	}
}
