package home

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

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
	for key, value := range header.PAXRecords {
		key, ok := strings.CutPrefix(key, xattrPrefix)
		if !ok || !strings.HasPrefix(key, "user.") {
			continue
		}
		switch err := unix.Fsetxattr(int(file.Fd()), key, []byte(value), 0); {
		case errors.Is(err, unix.ENOTSUP):
			u.left.out(header.Name, "attribute "+key)
		case err != nil:
			return os.NewSyscallError("fsetxattr "+key, err)
		}
	}
	mode := fileMode(header.Mode)
	if !owned && header.Typeflag != tar.TypeDir {
		mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	if info.Mode()&^fs.ModeDir == mode { // a new owner only clears bits that a new file never has
		return nil
	}
	return file.Chmod(mode)
}

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
