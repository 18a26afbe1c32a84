package mover

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
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

// committed holds an archive to be complete and to be the home with that digest, by unpacking it.
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

func TestThereAndBack(t *testing.T) {
	from, to, store := volume(t, someHome), t.TempDir(), filestore.New(t.TempDir())
	archived, err := Archive(t.Context(), archiving(store, from))
	if err != nil {
		t.Fatal(err)
	}
	want := committed(t, store, tree(t, from))
	if archived.Code != OK || archived.AlreadyDone || archived.SHA256 != want.SHA256 || archived.SizeBytes != want.Size || archived.Key != key.Data() {
		t.Errorf("archived: %+v, marker: %+v", archived, want)
	}
	again, err := Archive(t.Context(), archiving(store, from))
	archived.AlreadyDone = true
	if diff := cmp.Diff(archived, again); err != nil || diff != "" {
		t.Errorf("again: %v, -want +got:\n%s", err, diff)
	}
	restored, err := Restore(t.Context(), restoring(store, to))
	if err != nil || tree(t, to) != want.Tree || restored.Tree != want.Tree || restored.AlreadyDone {
		t.Errorf("restored: %+v, %v", restored, err)
	}
	content, err := ReadContent(to)
	wantContent := Content{Key: key.Data(), SHA256: want.SHA256, VolumeUID: "volume-2", Operation: "restore-op", Inode: content.Inode}
	if diff := cmp.Diff(wantContent, content); err != nil || diff != "" || content.Inode == 0 {
		t.Errorf("content.json: %v, -want +got:\n%s", err, diff)
	}
	onlyContentAndLock(t, to)
}

func onlyContentAndLock(t *testing.T, volume string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(volume, ".kyklos"))
	if err != nil || len(entries) != 2 || entries[0].Name() != "content.json" || entries[1].Name() != "lock" {
		t.Errorf("left behind: %v, %v", err, entries)
	}
}

// What a workspace wrote after a restore stays, however often the restore runs.
func TestARestoredHomeIsNotRestoredAgain(t *testing.T) {
	to, store := t.TempDir(), filestore.New(t.TempDir())
	if _, err := Archive(t.Context(), archiving(store, volume(t, someHome))); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), restoring(store, to)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "home", "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, to)
	job := restoring(store, to)
	job.Operation = "another"
	if result, err := Restore(t.Context(), job); err != nil || !result.AlreadyDone || tree(t, to) != before {
		t.Errorf("%+v, %v, the home is changed: %v", result, err, tree(t, to) != before)
	}
	job.VolumeUID = "volume-3" // a copy of the volume, such as from a snapshot
	if _, err := Restore(t.Context(), job); codeOf(err) != HomeExists || tree(t, to) != before {
		t.Errorf("another volume: %v, want HOME_EXISTS", err)
	}
}

func TestAHomeNobodyKnowsIsNotReplaced(t *testing.T) {
	store := filestore.New(t.TempDir())
	if _, err := Archive(t.Context(), archiving(store, volume(t, someHome))); err != nil {
		t.Fatal(err)
	}
	to := volume(t, map[string]string{"home/mine": "x"})
	before := tree(t, to)
	if _, err := Restore(t.Context(), restoring(store, to)); codeOf(err) != HomeExists || tree(t, to) != before {
		t.Errorf("%v, want HOME_EXISTS", err)
	}
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, "home"), 0o755); err != nil { // Kubernetes makes it
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), restoring(store, empty)); err != nil {
		t.Errorf("an empty one: %v", err)
	}
}

func TestNoTwoMoversOnAVolume(t *testing.T) {
	to, store := t.TempDir(), filestore.New(t.TempDir())
	if _, err := Archive(t.Context(), archiving(store, volume(t, someHome))); err != nil {
		t.Fatal(err)
	}
	job, second := restoring(store, to), error(nil)
	job.Report = once(func() { _, second = Restore(t.Context(), restoring(store, to)) })
	if _, err := Restore(t.Context(), job); err != nil || codeOf(second) != VolumeBusy {
		t.Errorf("first: %v, second: %v, want VOLUME_BUSY", err, second)
	}
}

func TestSixteenArchiversOneArchive(t *testing.T) {
	from, store := volume(t, someHome), filestore.New(t.TempDir())
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if _, err := Archive(t.Context(), archiving(store, from)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	committed(t, store, tree(t, from))
}

func TestWhatFailsAnArchive(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, job *Job)
		want    Code
	}{
		"another volume": {func(t *testing.T, job *Job) {
			write(t, job.Volume, ".kyklos/content.json", `{"volumeUID":"volume-9"}`)
		}, VolumeMismatch},
		"no home, though it was used": {func(t *testing.T, job *Job) { remove(t, job.Volume, "home") }, HomeMissing},
		"no home, though it was restored": {func(t *testing.T, job *Job) {
			remove(t, job.Volume, "home")
			job.Epoch = 0
			write(t, job.Volume, ".kyklos/content.json", `{"volumeUID":"volume-1"}`)
		}, HomeMissing},
		"no volume": {func(_ *testing.T, job *Job) { job.Volume += "x" }, TarCreateFailed},
		"changed": {func(t *testing.T, job *Job) {
			job.Report = once(func() { write(t, job.Volume, "home/zzz", "x") })
		}, HomeChanged},
		"no bucket": {func(_ *testing.T, job *Job) { job.Store = filestore.New("/nowhere/at/all") }, BucketMissing},
		"somebody else's data": {func(t *testing.T, job *Job) {
			put(t, job.Store, key.Data(), "this is no home")
		}, ArchiveUnverified},
		"somebody else's home": {func(t *testing.T, job *Job) {
			other := archiving(job.Store, volume(t, map[string]string{"home/other": "x"}))
			if _, err := other.upload(t.Context(), opened(t, other.Volume)); err != nil {
				t.Fatal(err)
			}
		}, ArchiveUnverified},
		"somebody else's marker": {func(t *testing.T, job *Job) { put(t, job.Store, key.Marker(), "sha256:") }, ArchiveUnverified},
		"an earlier epoch": {func(t *testing.T, job *Job) {
			if _, err := Archive(t.Context(), *job); err != nil {
				t.Fatal(err)
			}
			job.Epoch++
		}, ArchiveUnverified},
		"the store is full":      {func(_ *testing.T, job *Job) { job.Store = &cut{MoverStore: job.Store, at: 1, err: syscall.ENOSPC} }, DiskFull},
		"too large":              {func(_ *testing.T, job *Job) { job.Store = &cut{MoverStore: job.Store, at: 1, err: archive.ErrTooLarge} }, ArchiveTooLarge},
		"access denied":          {func(_ *testing.T, job *Job) { job.Store = &cut{MoverStore: job.Store, at: 1, err: archive.ErrDenied} }, StoreAccess},
		"the store is not there": {func(_ *testing.T, job *Job) { job.Store = &cut{MoverStore: job.Store, err: archive.ErrUnreachable} }, StoreAccess},
		"it was told to stop":    {func(_ *testing.T, job *Job) { job.Store = &cut{MoverStore: job.Store, err: context.Canceled} }, Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			job := archiving(filestore.New(t.TempDir()), volume(t, someHome))
			store := job.Store
			test.prepare(t, &job)
			if _, err := Archive(t.Context(), job); codeOf(err) != test.want {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			_, err := archive.Committed(t.Context(), store, key, archive.Want{VolumeUID: job.VolumeUID, Epoch: job.Epoch})
			if err == nil {
				t.Error("it failed, and yet an archive is committed")
			}
		})
	}
}

// A volume on which nothing ever ran has an empty home.
func TestAHomeThatWasNeverMade(t *testing.T) {
	job := archiving(filestore.New(t.TempDir()), t.TempDir())
	job.Epoch = 0
	if _, err := Archive(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := Restore(t.Context(), restoring(job.Store, to)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Join(to, "home")); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v, want an empty home", entries, err)
	}
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

// cut is a store that fails for good at one call, and from then on: to who uses it, as if it had
// been killed there.
type cut struct {
	archive.MoverStore
	at    int  // calls that still go well
	after bool // the call that fails has done its work
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

// Killed before or after any request, the next run finishes; what it leaves is never taken for a
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

// late is a zombie: what it writes arrives when somebody else has finished.
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
func TestAZombieChangesNothing(t *testing.T) {
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

// once is a Report that does something the first time.
func once(do func()) func(string, home.Progress) {
	do = sync.OnceFunc(do)
	return func(string, home.Progress) { do() }
}
