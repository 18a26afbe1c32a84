package home

import (
	"archive/tar"
	"fmt"
	"slices"
	"strings"
)

// folderMemory is how many bytes of folders' headers are kept before those with all their entries are finished. The attributes of one
// take up to 64 KiB, and a home has any number of folders.
var folderMemory = 16 << 20

// perFolder is what a header takes beside its name and records.
const perFolder = 512

func sizeOf(header *tar.Header) int {
	size := perFolder + len(header.Name)
	for key, value := range header.PAXRecords {
		size += len(key) + len(value)
	}
	return size
}

// keep keeps the header of a folder that begins until it has all its entries, since a change in a folder updates its time, and its mode
// may forbid changes.
func (u *unpacker) keep(header *tar.Header) error {
	if u.kept > u.most {
		if err := u.workers.wait(); err != nil { // they create files in these folders
			return err
		}
		if err := u.finish(func(name string) bool { return name == "./" || strings.HasPrefix(header.Name, name) }); err != nil {
			return err
		}
		u.most = u.kept + folderMemory
	}
	u.folders = append(u.folders, header)
	u.kept += sizeOf(header)
	return nil
}

// finish finishes folders, inner ones first, except those that are still open.
func (u *unpacker) finish(isOpen func(name string) bool) error {
	var left []*tar.Header
	for _, folder := range slices.Backward(u.folders) {
		if isOpen(folder.Name) {
			left = append(left, folder)
			continue
		}
		if err := u.finishFolder(folder); err != nil {
			return fmt.Errorf("%q: %w", folder.Name, err)
		}
	}
	slices.Reverse(left)
	u.folders, u.kept = left, 0
	for _, folder := range left {
		u.kept += sizeOf(folder)
	}
	return nil
}

func (u *unpacker) finishFolder(header *tar.Header) error {
	name := strings.TrimSuffix(header.Name, "/")
	parent, base, err := u.enter(name)
	if err != nil {
		return err
	}
	file, err := parent.Open(base)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := u.attributes(parent, base, header, file); err != nil {
		return err
	}
	return u.setTime(parent, base, header)
}
