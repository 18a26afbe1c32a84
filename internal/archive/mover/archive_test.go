package mover

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

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
	content, err := contentOf(to)
	wantContent := origin{Key: key.Data(), SHA256: want.SHA256, VolumeUID: "volume-2", Operation: "restore-op", Inode: content.Inode}
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

// Files that a workspace wrote after a restore stay, even if the restore runs again.
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

func TestAnUnknownHomeIsNotReplaced(t *testing.T) {
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
			write(t, job.Volume, ".kyklos/content.json", `{"key":"archives/a/b/home.tar.gz","volumeUID":"volume-1"}`)
			job.RestoredFrom = "archives/a/c/home.tar.gz"
		}, VolumeMismatch},
		"no home, though it was used": {func(t *testing.T, job *Job) { remove(t, job.Volume, "home") }, HomeMissing},
		"no home, though it was restored": {func(t *testing.T, job *Job) {
			remove(t, job.Volume, "home")
			job.Epoch = 0
			write(t, job.Volume, ".kyklos/content.json", `{"volumeUID":"volume-1"}`)
		}, HomeMissing},
		"no home, and other files": {func(t *testing.T, job *Job) {
			remove(t, job.Volume, "home")
			write(t, job.Volume, "thesis.txt", "years of work")
		}, HomeMissing},
		"never used, and other files": {func(t *testing.T, job *Job) {
			remove(t, job.Volume, "home")
			write(t, job.Volume, "thesis.txt", "years of work")
			job.Epoch = 0
		}, FilesBesideHome},
		"files beside the home": {func(t *testing.T, job *Job) { write(t, job.Volume, "thesis/1.txt", "years of work") }, FilesBesideHome},
		"no volume":             {func(_ *testing.T, job *Job) { job.Volume += "x" }, TarCreateFailed},
		"changed": {func(t *testing.T, job *Job) {
			job.Report = once(func() { write(t, job.Volume, "home/zzz", "x") })
		}, HomeChanged},
		"no bucket": {func(_ *testing.T, job *Job) { job.Store = filestore.New("/nowhere/at/all") }, BucketMissing},
		"foreign data": {func(t *testing.T, job *Job) {
			put(t, job.Store, key.Data(), "this is no home")
		}, ArchiveUnverified},
		"a foreign home": {func(t *testing.T, job *Job) {
			other := archiving(job.Store, volume(t, map[string]string{"home/other": "x"}))
			if _, err := other.upload(t.Context(), opened(t, other.Volume)); err != nil {
				t.Fatal(err)
			}
		}, ArchiveUnverified},
		"a foreign marker": {func(t *testing.T, job *Job) { put(t, job.Store, key.Marker(), "sha256:") }, ArchiveUnverified},
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
		"it was stopped":         {func(_ *testing.T, job *Job) { job.Store = &cut{MoverStore: job.Store, err: context.Canceled} }, Cancelled},
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

// A volume that was never used has an empty home.
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

// W78: a copy of a volume has the UID of another one. It can be archived, as what it was restored from says.
func TestACopyOfAVolumeIsArchived(t *testing.T) {
	store := filestore.New(t.TempDir())
	for _, from := range []string{"", "archives/a/b/home.tar.gz"} {
		copied := volume(t, someHome)
		write(t, copied, ".kyklos/content.json", `{"key":"archives/a/b/home.tar.gz","volumeUID":"volume-9"}`)
		job := archiving(store, copied)
		job.RestoredFrom = from
		if _, err := Archive(t.Context(), job); err != nil {
			t.Errorf("restored from %q: %v", from, err)
		}
	}
}
