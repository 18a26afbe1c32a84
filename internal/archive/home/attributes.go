package home

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes sets owner, extended attributes and mode of an open file or folder. In this order: a new owner clears setuid,
// and a mode may forbid attributes.
func (u *unpacker) attributes(within *os.Root, name string, header *tar.Header, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	owned, err := u.own(within, name, header, info)
	if err != nil {
		return err
	}
	mode := fileMode(header.Mode)
	acl, hasACL := header.PAXRecords[xattrPrefix+accessACL]
	lost, err := u.setAttributes(header, file)
	if err != nil {
		return err
	}
	if hasACL && slices.Contains(lost, accessACL) {
		mode = narrowed(mode, []byte(acl))
	}
	if !owned && header.Typeflag != tar.TypeDir {
		mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	if info.Mode()&^fs.ModeDir == mode && !hasACL { // a new owner only clears bits that a new file never has
		return nil
	}
	return file.Chmod(mode)
}

// setAttributes returns what could not be set.
func (u *unpacker) setAttributes(header *tar.Header, file *os.File) (lost []string, err error) {
	for _, record := range slices.Sorted(maps.Keys(header.PAXRecords)) {
		key, ok := strings.CutPrefix(record, xattrPrefix)
		if !ok || !keepsAttribute(key) {
			continue
		}
		switch err := unix.Fsetxattr(int(file.Fd()), key, []byte(header.PAXRecords[record]), 0); {
		case err == nil:
		case cannotSet(key, err):
			u.left.out(header.Name, "attribute "+key)
			lost = append(lost, key)
		default:
			return nil, os.NewSyscallError("fsetxattr "+key, err)
		}
	}
	return lost, nil
}

// setTime sets an entry's times, also those that Go's Chtimes cannot express; a link is not followed. File systems replace times
// that they have no room for by others.
func (u *unpacker) setTime(within *os.Root, base string, header *tar.Header) error {
	when := header.ModTime
	if header.Typeflag != tar.TypeSymlink && !when.Before(narrowTimes[0]) && when.Before(narrowTimes[1]) {
		return within.Chtimes(base, when, when)
	}
	parent, err := within.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	stamp, err := unix.TimeToTimespec(when)
	if err != nil {
		return err
	}
	if err := unix.UtimesNanoAt(int(parent.Fd()), base, []unix.Timespec{stamp, stamp}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return os.NewSyscallError("utimensat", err)
	}
	info, err := within.Lstat(base)
	if err == nil && info.ModTime().Unix() != when.Unix() {
		u.left.out(header.Name, "time "+when.UTC().Format(time.RFC3339))
	}
	return err
}

// narrowTimes are those that every file system has.
var narrowTimes = [2]time.Time{time.Unix(0, 0), time.Unix(1<<31-1, 0)}

// own sets owner and group of an entry; info is from its creation. Without permission it stays with the restoring user,
// which is the workspace's user.
func (u *unpacker) own(within *os.Root, name string, header *tar.Header, info fs.FileInfo) (owned bool, err error) {
	stat := info.Sys().(*syscall.Stat_t)
	if int(stat.Uid) == header.Uid && int(stat.Gid) == header.Gid {
		return true, nil
	}
	err = within.Lchown(name, header.Uid, header.Gid)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) { // EINVAL: an id outside the user namespace
		u.left.out(header.Name, fmt.Sprintf("owner %d:%d", header.Uid, header.Gid))
		return false, nil
	}
	return err == nil, err
}
