package mover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ofStorage are names in a volume's root that file systems and storages make themselves.
var ofStorage = []string{
	"lost+found", "aquota.user", "aquota.group", ".snapshot", ".snapshots", ".zfs", ".trashcan", "#snapshot", "#recycle", "@eaDir",
	"$RECYCLE.BIN", "System Volume Information",
}

// beside returns what is in the volume's root besides the home and what Kyklos or the storage put there.
func beside(volume *os.Root) ([]string, error) {
	entries, err := readFolder(volume, ".")
	var names []string
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == homeFolder, name == ownFolder, slices.Contains(ofStorage, name), strings.HasPrefix(name, ".nfs"): // a file that NFS still has open
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

// maxNames is how many names an error has.
const maxNames = 5

func quoted(names []string) string {
	var some []string
	for _, name := range names[:min(len(names), maxNames)] {
		some = append(some, strconv.Quote(name))
	}
	text := strings.Join(some, ", ")
	if more := len(names) - maxNames; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// noHome is the error about a volume without a home. names are in its root.
func noHome(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("%w, and nothing else", errNoHome)
	}
	return fmt.Errorf("%w; in its root is %s", errNoHome, quoted(names))
}

// CheckHome checks that a volume that was brought back has a home, before anything is started on it (W98). An empty folder home
// beside other files is none: Kubernetes makes it for any Pod that mounts it.
func CheckHome(path string) error {
	volume, err := os.OpenRoot(path)
	if err != nil {
		return archiveFailure(err)
	}
	defer func() { _ = volume.Close() }()
	names, err := beside(volume)
	if err != nil {
		return archiveFailure(err)
	}
	entries, err := readFolder(volume, homeFolder)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
	case err != nil, len(entries) > 0, len(names) == 0: // one that cannot be read is not empty
		return nil
	}
	return archiveFailure(noHome(names))
}
