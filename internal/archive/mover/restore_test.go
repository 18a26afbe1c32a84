package mover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/home"
)

// archived is a store with one archive, as a folder whose files a test can damage.
func archived(t *testing.T) (folder, tree string) {
	t.Helper()
	folder = t.TempDir()
	result, err := Archive(t.Context(), archiving(filestore.New(folder), volume(t, map[string]string{"home/a": "hello", "home/b/c": "world"})))
	if err != nil {
		t.Fatal(err)
	}
	return folder, result.Tree
}

// nothingRestored checks that a failed restore left the volume as it was before.
func nothingRestored(t *testing.T, volume string) {
	t.Helper()
	if _, err := os.Lstat(filepath.Join(volume, "home")); !os.IsNotExist(err) {
		t.Errorf("a home appeared: %v", err)
	}
	if _, err := contentOf(volume); !os.IsNotExist(err) {
		t.Errorf("the volume is marked as restored: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(volume, ".kyklos", "restore-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Damage to any byte of the data is found before a home appears.
func TestDamagedDataIsNeverRestored(t *testing.T) {
	folder, _ := archived(t)
	path := filepath.Join(folder, key.Data())
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for at := range good {
		flipped := bytes.Clone(good)
		flipped[at] ^= 1 << (at % 8)
		for name, bad := range map[string][]byte{"cut": good[:at], "flipped": flipped} {
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Restore(t.Context(), restoring(filestore.New(folder), to)); codeOf(err) != ChecksumMismatch {
				t.Fatalf("byte %d of %d %s: %v, want CHECKSUM_MISMATCH", at, len(good), name, err)
			}
		}
	}
	nothingRestored(t, to)
}

func TestWhatFailsARestore(t *testing.T) {
	other := archive.Key{UID: opID, OpID: uid}
	for name, test := range map[string]struct {
		prepare func(t *testing.T, folder string, job *Job)
		want    Code
	}{
		"no data":                  {func(t *testing.T, folder string, _ *Job) { remove(t, folder, key.Data()) }, ArchiveNotFound},
		"no marker":                {func(t *testing.T, folder string, _ *Job) { remove(t, folder, key.Marker()) }, MetaNotFound},
		"no bucket":                {func(_ *testing.T, _ string, job *Job) { job.Store = filestore.New("/nowhere/at/all") }, BucketMissing},
		"half marker":              {func(t *testing.T, folder string, _ *Job) { write(t, folder, key.Marker(), "sha256:") }, ChecksumMismatch},
		"another sum was recorded": {func(_ *testing.T, _ string, job *Job) { job.SHA256 = "0a" }, ChecksumMismatch},
		"another's marker": {func(t *testing.T, folder string, job *Job) {
			stranger := archiving(job.Store, volume(t, map[string]string{"home/other": "x"}))
			stranger.Key = other
			if _, err := Archive(t.Context(), stranger); err != nil {
				t.Fatal(err)
			}
			copyFile(t, filepath.Join(folder, other.Marker()), filepath.Join(folder, key.Marker()))
		}, ChecksumMismatch},
		"another's archive": {func(t *testing.T, folder string, job *Job) {
			stranger := archiving(job.Store, volume(t, map[string]string{"home/other": "x"}))
			stranger.Key = other
			if _, err := Archive(t.Context(), stranger); err != nil {
				t.Fatal(err)
			}
			copyFile(t, filepath.Join(folder, other.Marker()), filepath.Join(folder, key.Marker()))
			copyFile(t, filepath.Join(folder, other.Data()), filepath.Join(folder, key.Data()))
		}, ChecksumMismatch},
		"the store disappears": {func(_ *testing.T, _ string, job *Job) {
			job.Store = &cut{MoverStore: job.Store, at: 1, err: archive.ErrUnreachable}
		}, StoreAccess},
		"no volume": {func(_ *testing.T, _ string, job *Job) { job.Volume += "/x/y" }, TarExtractFailed},
	} {
		t.Run(name, func(t *testing.T) {
			folder, _ := archived(t)
			job := restoring(filestore.New(folder), t.TempDir())
			test.prepare(t, folder, &job)
			if _, err := Restore(t.Context(), job); codeOf(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			nothingRestored(t, job.Volume)
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err := errors.Join(err, os.WriteFile(to, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// A run that was killed after the home had appeared, and before the volume was marked, is finished; the home is not
// mistaken for a foreign one.
func TestKilledBetweenTheRenames(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(origin) origin
		want Code
	}{
		"by this archive":    {func(c origin) origin { return c }, OK},
		"by another archive": {func(c origin) origin { c.Key, c.SHA256 = "other", "0a"; return c }, OK},
		"not by a mover":     {func(c origin) origin { c.Inode++; return c }, HomeExists},
	} {
		t.Run(name, func(t *testing.T) {
			folder, want := archived(t)
			job := restoring(filestore.New(folder), t.TempDir())
			if _, err := Restore(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			content, err := contentOf(job.Volume)
			if err != nil {
				t.Fatal(err)
			}
			content = test.edit(content)
			write(t, job.Volume, ".kyklos/restore-earlier/content.json", fmt.Sprintf(`{"key":%q,"sha256":%q,"volumeUID":%q,"inode":%d}`,
				content.Key, content.SHA256, content.VolumeUID, content.Inode))
			remove(t, job.Volume, ".kyklos/content.json")
			if content.Key == "other" {
				write(t, job.Volume, "home/others", "x")
			}
			if _, err := Restore(t.Context(), job); codeOf(err) != test.want || tree(t, job.Volume) != want {
				t.Fatalf("got %v, want %s; the home is the archive's: %v", err, test.want, tree(t, job.Volume) == want)
			}
			if test.want == OK {
				onlyContentAndLock(t, job.Volume)
			}
		})
	}
}

// The test binary as a mover that kills itself at the report with the given number.
func TestMain(m *testing.M) {
	at, err := strconv.Atoi(os.Getenv("KILLED_AT"))
	if err != nil {
		os.Exit(m.Run())
	}
	job := restoring(filestore.New(os.Args[1]), os.Args[2])
	job.Report = func(archive.Step, home.Progress, func() home.Progress) {
		if at--; at < 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	if _, err := Restore(context.Background(), job); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func TestKilledWhileUnpacking(t *testing.T) {
	folder, want := archived(t)
	to := t.TempDir()
	for at := 0; ; at++ {
		mover := exec.CommandContext(t.Context(), os.Args[0], folder, to)
		mover.Env = append(os.Environ(), "KILLED_AT="+strconv.Itoa(at))
		out, err := mover.CombinedOutput()
		if err == nil {
			if at < 3 {
				t.Errorf("it was killed %d times only", at)
			}
			break
		}
		if status := mover.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
			t.Fatalf("%v: %s", err, out)
		}
		if _, err := os.Lstat(filepath.Join(to, "home")); !os.IsNotExist(err) {
			t.Fatalf("killed at %d, and a home appeared: %v", at, err)
		}
	}
	if got := tree(t, to); got != want {
		t.Errorf("the home is %s, want %s", got, want)
	}
	onlyContentAndLock(t, to)
}
