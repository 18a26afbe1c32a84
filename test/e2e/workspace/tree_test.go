package workspace

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree says everything of each entry below a folder that an owner may care for, by its path. It is
// written for these tests alone, and shares nothing with the movers.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, first := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		stat := info.Sys().(*syscall.Stat_t)
		says := fmt.Sprintf("%s %d:%d %s", info.Mode(), stat.Uid, stat.Gid, info.ModTime().UTC().Format(time.RFC3339Nano))
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			says += " to " + target
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			says += fmt.Sprintf(" %d bytes %x", len(content), sha256.Sum256(content))
			if stat.Nlink > 1 {
				if _, seen := first[stat.Ino]; !seen {
					first[stat.Ino] = name
				}
				says += fmt.Sprintf(" one of %d with %s", stat.Nlink, first[stat.Ino])
			}
		}
		entries[name] = says
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// taken is how much of the disk a file takes.
func taken(t *testing.T, file string) int64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Lstat(file, &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Blocks * 512
}

// differences are the entries that two trees do not have in common.
func differences(before, after map[string]string) string {
	var out strings.Builder
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if _, had := before[name]; !had {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if before[name] != after[name] {
			fmt.Fprintf(&out, "%q was %s\n\tis %s\n", name, before[name], after[name])
		}
	}
	return out.String()
}

// sparseSize is far more than the file really has.
const sparseSize = 16 << 20

// fill gives a home what archives go wrong with.
func fill(t *testing.T, home string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(home, name) }
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	for _, folder := range []string{"empty", "deep/er/est", "読み物", ".config", "closed"} {
		do(os.MkdirAll(at(folder), 0o755))
	}
	for file, content := range map[string]string{
		".profile": "export A=1\n", "deep/er/est/file": "deep", "読み物/猫 と 犬.txt": "にゃあ", "-rf": "a name", "new\nline": "a name",
		" space ": "a name", "tab\t\"quote\"": "a name", "script": "#!/bin/sh\n", strings.Repeat("long", 60): "a name", "empty file": "",
		"zeros": strings.Repeat("\x00", 300_000), "closed/secret": "hidden",
	} {
		do(os.WriteFile(at(file), []byte(content), 0o644))
	}
	do(os.Chmod(at("script"), 0o755|fs.ModeSetuid))
	do(os.Chmod(at("deep"), 0o777|fs.ModeSticky))
	do(os.Chmod(at("closed/secret"), 0o400))
	do(os.Chmod(at("closed"), 0o700))
	do(os.Symlink("../nowhere", at("dangling")))
	do(os.Symlink("/etc/passwd", at("absolute")))
	do(os.Symlink("deep/er", at("folder link")))
	do(os.Link(at("script"), at("deep/hard link")))
	sparse, err := os.Create(at("sparse"))
	do(err)
	_, err = sparse.WriteAt([]byte("the end"), sparseSize)
	do(err)
	do(sparse.Close())
	for _, old := range []string{"script", "deep/er/est", "empty"} {
		do(os.Chtimes(at(old), time.Time{}, time.Date(1999, 12, 31, 23, 59, 59, 123456789, time.UTC)))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The walker itself: each kind of change is seen.
func TestTreeSeesChanges(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	fill(t, home)
	at := func(name string) string { return filepath.Join(home, name) }
	before := tree(t, home)
	for _, change := range []struct {
		what string
		make func() error
	}{
		{"content", func() error { return os.WriteFile(at("-rf"), []byte("A name"), 0o644) }},
		{"mode", func() error { return os.Chmod(at("-rf"), 0o600) }},
		{"time", func() error { return os.Chtimes(at("empty"), time.Time{}, time.Unix(1, 0)) }},
		{"removed", func() error { return os.Remove(at("empty")) }},
		{"added", func() error { return os.Mkdir(at("more"), 0o755) }},
		{"a target", func() error { return os.Rename(at("absolute"), at("dangling")) }},
		{"a hard link", func() error { return errors.Join(os.Remove(at("script")), os.WriteFile(at("script"), nil, 0o755)) }},
	} {
		if err := change.make(); err != nil {
			t.Fatal(err)
		}
		after := tree(t, home)
		if differences(before, after) == "" {
			t.Errorf("%s: not seen", change.what)
		}
		before = after
	}
	if got := differences(before, tree(t, home)); got != "" {
		t.Errorf("looking alone changes\n%s", got)
	}
}
