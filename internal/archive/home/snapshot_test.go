package home

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// snapshot describes everything under a folder as text, by paths and the host's own calls: an
// oracle that shares no code with the package.
func snapshot(t testing.TB, folder string) map[string]string {
	t.Helper()
	all, first := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var stat unix.Stat_t
		if err := unix.Lstat(path, &stat); err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		description := fmt.Sprintf("%o %d:%d %d.%09d", stat.Mode, stat.Uid, stat.Gid, stat.Mtim.Sec, stat.Mtim.Nsec)
		switch entry.Type() {
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			description += " -> " + target
		case 0:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			description += fmt.Sprintf(" %d %x", len(content), sha256.Sum256(content))
			if before, ok := first[stat.Ino]; ok {
				description += " is " + before
			} else {
				first[stat.Ino] = name
			}
		}
		var value [100]byte
		if n, err := unix.Lgetxattr(path, "user.kyklos", value[:]); err == nil {
			description += " user.kyklos=" + string(value[:n])
		}
		all[name] = description
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// open opens a folder until the test ends.
func open(t testing.TB, folder string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// write creates files from "name: content" lines; names that end with a slash are folders.
func write(t testing.TB, folder string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// blocks is what a file takes on disk, in bytes.
func blocks(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}
