package home

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Unpack fills folder, which must be empty, from a stream. It writes nothing
// outside of folder, through no link and over nothing that exists. An owner who cannot be
// given is left out and told; a program that would run as that owner (setuid) then does not. After an
// error the folder's content is of no use.
//
// Only after the whole stream is it known whether it was sound, so unpack to a folder nobody
// uses yet, and Flush it before anybody does.
func Unpack(ctx context.Context, folder *os.Root, r io.Reader, limits Limits, report func(Progress)) (Summary, error) {
	u := &unpacker{folder: folder, buffer: make([]byte, 1<<20), parentName: "."}
	defer u.leave()
	summary, err := scan(ctx, r, limits, report, u.visit)
	if err != nil {
		return Summary{}, err
	}
	// Inner folders first: a folder's time is that of the last change in it, and its mode may
	// forbid any.
	for _, header := range slices.Backward(u.folders) {
		if err := u.finishFolder(header); err != nil {
			return Summary{}, fmt.Errorf("%q: %w", header.Name, err)
		}
	}
	summary.LeftOut, summary.LeftOutCount = u.summary.LeftOut, u.summary.LeftOutCount
	return summary, nil
}

// Flush waits until all of folder's file system is on disk: one call, where a call for each of many small
// files would take many times as long.
func Flush(folder *os.Root) error {
	top, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }()
	return flush(top)
}

type unpacker struct {
	folder  *os.Root
	folders []*tar.Header
	buffer  []byte
	summary Summary

	parentName string
	parent     *os.Root // of the last entry; nil for the folder itself
}

// enter opens the folder that an entry is in, and gives back the entry's name in it. Entries
// come folder by folder, so it is nearly always open, and most calls need not go down from the top.
func (u *unpacker) enter(name string) (*os.Root, string, error) {
	if parent := path.Dir(name); parent != u.parentName {
		u.leave()
		if parent != "." {
			opened, err := u.folder.OpenRoot(parent)
			if err != nil {
				return nil, "", err
			}
			u.parentName, u.parent = parent, opened
		}
	}
	if u.parent == nil {
		return u.folder, path.Base(name), nil
	}
	return u.parent, path.Base(name), nil
}

func (u *unpacker) leave() {
	if u.parent != nil {
		_ = u.parent.Close()
	}
	u.parentName, u.parent = ".", nil
}

func (u *unpacker) visit(header *tar.Header, content io.Reader) error {
	name := strings.TrimSuffix(header.Name, "/")
	switch header.Typeflag {
	case tar.TypeDir:
		u.folders = append(u.folders, header)
		if name == "." {
			return nil
		}
		parent, base, err := u.enter(name)
		if err != nil {
			return err
		}
		return parent.Mkdir(base, 0o700)
	case tar.TypeSymlink:
		return u.symlink(name, header)
	case tar.TypeLink:
		return u.link(name, header.Linkname)
	}
	return u.file(name, header, content)
}

func (u *unpacker) file(name string, header *tar.Header, content io.Reader) error {
	parent, base, err := u.enter(name)
	if err != nil {
		return err
	}
	// With the mode that it will have, as far as the umask allows: nobody else gets into the home yet.
	mode := fileMode(header.Mode).Perm() | 0o600
	file, err := parent.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	if err = writeSparse(file, content, u.buffer); err == nil {
		err = u.attributes(parent, base, header, file)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return parent.Chtimes(base, header.ModTime, header.ModTime)
}

func (u *unpacker) symlink(name string, header *tar.Header) error {
	within, base, err := u.enter(name)
	if err != nil {
		return err
	}
	if err := within.Symlink(header.Linkname, base); err != nil {
		return err
	}
	info, err := within.Lstat(base)
	if err != nil {
		return err
	}
	if _, err := u.own(within, base, header, info); err != nil {
		return err
	}
	parent, err := within.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }()
	stamp, err := unix.TimeToTimespec(header.ModTime)
	if err != nil {
		return err
	}
	err = unix.UtimesNanoAt(int(parent.Fd()), base, []unix.Timespec{stamp, stamp}, unix.AT_SYMLINK_NOFOLLOW)
	return os.NewSyscallError("utimensat", err)
}

func (u *unpacker) link(name, target string) error {
	info, err := u.folder.Lstat(target)
	if err != nil {
		return unsafe("it links to %q: %v", target, err)
	}
	if !info.Mode().IsRegular() {
		return unsafe("it links to %q, which is no file", target)
	}
	return u.folder.Link(target, name)
}

func (u *unpacker) finishFolder(header *tar.Header) error {
	name := strings.TrimSuffix(header.Name, "/")
	file, err := u.folder.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := u.attributes(u.folder, name, header, file); err != nil {
		return err
	}
	return u.folder.Chtimes(name, header.ModTime, header.ModTime)
}

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
			u.summary.leaveOut(fmt.Sprintf("%q: attribute %s", header.Name, key))
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
		u.summary.leaveOut(fmt.Sprintf("%q: owner %d:%d", header.Name, header.Uid, header.Gid))
		return false, nil
	}
	return err == nil, err
}
