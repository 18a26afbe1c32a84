package mover

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	contentName   = ownFolder + "/content.json"
	lockName      = ownFolder + "/lock"
	stagingPrefix = "restore-"
)

// origin is what the volume's home was restored from. It is stored next to the home.
type origin struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"`
	// VolumeUID is the volume of the restore. A copy of the volume has another UID, and is the same home (ADR 38).
	VolumeUID string `json:"volumeUID"`
	Operation string `json:"operation"`
	// Inode is the home's. It identifies a home that a killed run had already moved into place.
	Inode uint64 `json:"inode"`
}

// same reports whether two are the same data on the same volume. The operation does not matter: a restored home is not
// restored again, since a workspace may have written to it.
func (c origin) same(other origin) bool {
	return c.Key == other.Key && c.SHA256 == other.SHA256 && c.VolumeUID == other.VolumeUID
}

// readContent reads the origin of a volume's home, or returns fs.ErrNotExist.
func readContent(volume *os.Root, name string) (origin, error) {
	text, err := volume.ReadFile(name)
	if err != nil {
		return origin{}, err
	}
	var content origin
	if err := json.Unmarshal(text, &content); err != nil {
		return origin{}, fmt.Errorf("%s: %w", name, err)
	}
	return content, nil
}

// seal stores the origin of the home, which must be synced to disk first.
func (r *restorer) seal(staging string) error {
	if err := syncFolder(r.volume, "."); err != nil {
		return err
	}
	if err := r.volume.Rename(staging+"/content.json", contentName); err != nil {
		return err
	}
	if err := syncFolder(r.volume, ownFolder); err != nil {
		return err
	}
	return clear(r.volume, staging)
}

// lock keeps other movers on this node from the volume until the file is closed.
func lock(volume *os.Root) (*os.File, error) {
	file, err := volume.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errBusy
		}
		return nil, os.NewSyscallError("flock", err)
	}
	return file, nil
}

// inode returns 0 if name does not exist.
func inode(volume *os.Root, name string) (uint64, error) {
	info, err := volume.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Ino, nil
}

// staged returns the folders left by earlier runs.
func staged(volume *os.Root) ([]string, error) {
	entries, err := readFolder(volume, ownFolder)
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), stagingPrefix) {
			names = append(names, path.Join(ownFolder, entry.Name()))
		}
	}
	return names, err
}

// clear deletes a folder, even if the modes of its folders forbid it.
func clear(volume *os.Root, name string) error {
	if err := unlock(volume, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return volume.RemoveAll(name)
}

func unlock(volume *os.Root, name string) error {
	if err := volume.Chmod(name, 0o700); err != nil {
		return err
	}
	entries, err := readFolder(volume, name)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := unlock(volume, path.Join(name, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func readFolder(volume *os.Root, name string) ([]fs.DirEntry, error) {
	file, err := volume.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return file.ReadDir(-1)
}

func syncFolder(volume *os.Root, name string) error {
	file, err := volume.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
