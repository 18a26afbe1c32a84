package home

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The test binary as a user who is not root: to pack a folder, or to unpack one.
func TestMain(m *testing.M) {
	folder := os.Getenv("UNPRIVILEGED_IN")
	if folder == "" {
		os.Exit(m.Run())
	}
	root, err := os.OpenRoot(folder)
	if err == nil && os.Getenv("UNPRIVILEGED_DO") == "pack" {
		_, err = Pack(context.Background(), root, os.Stdout, nil)
	} else if err == nil {
		var summary Summary
		summary, err = Unpack(context.Background(), root, os.Stdin, everything, nil)
		for _, name := range summary.LeftOut {
			fmt.Println(name)
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		println(err.Error())
		os.Exit(13)
	}
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

// unprivileged runs it as nobody.
func unprivileged(t *testing.T, do, folder string, in io.Reader) ([]byte, error) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can change the user")
	}
	binary := filepath.Join(os.TempDir(), filepath.Base(t.TempDir())+".test")
	text, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.WriteFile(binary, text, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(binary) })
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env, cmd.Stdin, cmd.Dir = []string{"UNPRIVILEGED_IN=" + folder, "UNPRIVILEGED_DO=" + do}, in, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd.Output()
}

// reachable is a folder that every user can reach.
func reachable(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "home")
	if err := errors.Join(err, os.Chmod(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writable(folder); _ = os.RemoveAll(folder) })
	return folder
}

// An unreadable file fails the pack: without it, part of the home would be lost.
func TestWhatCannotBeReadFailsThePack(t *testing.T) {
	for name, path := range map[string]string{"file": "a/secret", "folder": "a"} {
		folder := write(t, reachable(t), map[string]string{"a/secret": "x", "b": "y"})
		if err := os.Chmod(filepath.Join(folder, path), 0); err != nil {
			t.Fatal(err)
		}
		_, err := unprivileged(t, "pack", folder, nil)
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 13 {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
}

// W77: all that cannot be read is counted, and the first are named, with their owner and mode.
func TestEverythingThatCannotBeReadIsNamed(t *testing.T) {
	folder := write(t, reachable(t), map[string]string{"closed/a": "x", "listed/a": "x", "listed/b": "x", "open/own": "x", "open/secret": "x", "zz": "x"})
	if err := os.Symlink("nowhere", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"closed": 0, "listed": 0o744, "open/secret": 0o600, "zz": 0} {
		if err := os.Chmod(filepath.Join(folder, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	says := func() string {
		_, err := unprivileged(t, "pack", folder, nil)
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok || failed.ExitCode() != 13 {
			t.Fatalf("%v, want it refused", err)
		}
		return strings.TrimSpace(string(failed.Stderr))
	}
	want := `permission denied to read 2 files, 2 folders ("closed": folder of user 0, mode 0000, "listed": folder of user 0, mode 0744, ` +
		`"open/secret": file of user 0, mode 0600, "zz": file of user 0, mode 0000)`
	if got := says(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	long := strings.Repeat("x", 250)
	write(t, folder, map[string]string{"a/" + long: "x"})
	if err := os.Chmod(filepath.Join(folder, "a", long), 0); err != nil {
		t.Fatal(err)
	}
	if got := says(); !strings.Contains(got, `3 files, 2 folders ("...`+long[:200]+`": file of user 0, mode 0000, "closed"`) || len(got) > 512 {
		t.Errorf("of a long name it says %s", got)
	}
}

// Without the right to chown, files belong to the restoring user, and setuid bits are dropped.
func TestOwnersThatCannotBeSet(t *testing.T) {
	folder := write(t, t.TempDir(), map[string]string{"tool": "x", "sub/file": "y"})
	if err := errors.Join(os.Chmod(filepath.Join(folder, "tool"), 0o755|fs.ModeSetuid), os.Symlink("tool", filepath.Join(folder, "link"))); err != nil {
		t.Fatal(err)
	}
	stream, want := packed(t, folder)
	to := reachable(t)
	if err := os.Chown(to, 65534, 65534); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	if _, err := unprivileged(t, "unpack", to, bytes.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(to, "tool"))
	if err != nil || info.Mode() != 0o755 || info.Sys().(*syscall.Stat_t).Uid != 65534 {
		t.Errorf("%v, %v, want the user nobody and no setuid bit", info.Mode(), err)
	}
	if got := snapshot(t, to); int64(len(got)) != want.Entries {
		t.Errorf("%d entries, want %d", len(got), want.Entries)
	}
}
