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

// origin says what the volume's home was restored from. It stands beside the home, so it is there
// exactly as long as the home is.
type origin struct {
	Key       string `json:"key"`
	SHA256    string `json:"sha256"`
	VolumeUID string `json:"volumeUID"`
	Operation string `json:"operation"`
	// Inode is the home's. It tells the home that a run put in place and was killed from any
	// other.
	Inode uint64 `json:"inode"`
}

// same tells whether two are of the same bytes on the same volume. The operation does not matter: what was restored is
// not restored again, since a workspace may have written to it.
func (c origin) same(other origin) bool {
	return c.Key == other.Key && c.SHA256 == other.SHA256 && c.VolumeUID == other.VolumeUID
}

// readContent reads what a volume's home was restored from, or fs.ErrNotExist.
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

// lock keeps other movers on this node off the volume until the file is closed, be it by the
// kernel.
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

// inode is 0 if there is nothing of that name.
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

// staged are the folders that earlier runs have left behind.
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

// clear deletes a folder whose own folders may forbid it.
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
