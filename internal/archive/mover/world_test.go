package mover

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/home"
)

const (
	uid  = "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11"
	opID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
)

var key = archive.Key{UID: uid, OpID: opID}

// volume makes a volume with a home of a few files.
func volume(t testing.TB, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

var someHome = map[string]string{"home/.bashrc": "alias l=ls\n", "home/src/main.go": "package main\n", "home/src/big": strings.Repeat("0123456789", 50_000)}

func archiving(store archive.MoverStore, volume string) Job {
	return Job{Store: store, Key: key, Volume: volume, VolumeUID: "volume-1", Epoch: 3, Workspace: "team/ann", Version: "v1"}
}

func restoring(store archive.MoverStore, volume string) Job {
	return Job{Store: store, Key: key, Volume: volume, VolumeUID: "volume-2", Operation: "restore-op"}
}

// tree is the digest of a volume's home.
func tree(t testing.TB, volume string) string {
	t.Helper()
	root, err := os.OpenRoot(filepath.Join(volume, "home"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	summary, err := home.Survey(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return summary.Tree
}

// committed checks that an archive is complete and is the home with that digest, by unpacking it.
func committed(t testing.TB, store archive.MoverStore, want string) archive.Marker {
	t.Helper()
	marker, err := archive.Committed(t.Context(), store, key, archive.Want{VolumeUID: "volume-1", Epoch: 3})
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := Restore(t.Context(), restoring(store, to)); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, to); got != want || got != marker.Tree {
		t.Fatalf("the archive is the home %s, its marker says %s, the volume is %s", got, marker.Tree, want)
	}
	return marker
}

func codeOf(err error) Code {
	if err == nil {
		return OK
	}
	failure := (*Failure)(nil)
	if !errors.As(err, &failure) {
		return "NONE"
	}
	return failure.Code
}

func opened(t *testing.T, volume string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(filepath.Join(volume, "home"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// contentOf is the content marker of a volume.
func contentOf(volume string) (origin, error) {
	root, err := os.OpenRoot(volume)
	if err != nil {
		return origin{}, err
	}
	defer root.Close()
	return readContent(root, contentName)
}

func write(t *testing.T, volume, name, content string) {
	t.Helper()
	path := filepath.Join(volume, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Error(err)
	}
}

func remove(t *testing.T, volume, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(volume, name)); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, store archive.MoverStore, name, content string) {
	t.Helper()
	if err := store.Put(t.Context(), name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

// once is a Report that calls a function the first time.
func once(do func()) func(archive.Step, home.Progress, func() home.Progress) {
	do = sync.OnceFunc(do)
	return func(archive.Step, home.Progress, func() home.Progress) { do() }
}
