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

// attributes gives an open file or folder its owner, extended attributes and mode. In this order:
// a new owner takes setuid away, and a mode may forbid attributes.
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
	if info.Mode()&^fs.ModeDir == mode { // a new owner takes no bit away but those that a new file never has
		return nil
	}
	return file.Chmod(mode)
}

// own gives an entry, whose info is as it was made, its owner and group. Without the right to, it stays with who restores it,
// which is who the workspace runs as.
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
