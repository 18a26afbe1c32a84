package home

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
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
	u := &unpacker{buffer: make([]byte, 1<<20), parentName: ".", top: newPlace(folder), crew: newCrew()}
	u.parent = u.top
	defer u.leave()
	summary, err := scan(ctx, r, limits, report, u.visit)
	// Also after an error: nobody may write any more when the caller clears up.
	if failed := u.crew.wait(); failed != nil {
		err = failed
	}
	if err != nil {
		return Summary{}, err
	}
	// Inner folders first: a folder's time is that of the last change in it, and its mode may
	// forbid any.
	for _, folder := range slices.Backward(u.folders) {
		if err := u.finishFolder(folder); err != nil {
			return Summary{}, fmt.Errorf("%q: %w", folder.Name, err)
		}
	}
	summary.LeftOut, summary.LeftOutCount = u.left.told()
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
	top     *place
	folders []*tar.Header
	buffer  []byte
	crew    *crew
	left    leftOut

	parentName string
	parent     *place // of the last entry
}

// enter opens the folder that an entry is in, and gives back the entry's name in it. Entries
// come folder by folder, so it is nearly always open, and most calls need not go down from the top.
func (u *unpacker) enter(name string) (*os.Root, string, error) {
	if parent := path.Dir(name); parent != u.parentName {
		u.leave()
		if parent != "." {
			opened, err := u.top.root.OpenRoot(parent)
			if err != nil {
				return nil, "", err
			}
			u.parentName, u.parent = parent, newPlace(opened)
		}
	}
	return u.parent.root, path.Base(name), nil
}

func (u *unpacker) leave() {
	if u.parent != u.top {
		u.parent.release()
	}
	u.parentName, u.parent = ".", u.top
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

// file makes a file: a small one by the crew, while the next is read.
func (u *unpacker) file(name string, header *tar.Header, content io.Reader) error {
	parent, base, err := u.enter(name)
	if err != nil {
		return err
	}
	if header.Size > small {
		return u.create(parent, base, header, func(file *os.File) error { return writeSparse(file, content, u.buffer) })
	}
	whole := u.crew.buffer(header.Size)
	if _, err := io.ReadFull(content, *whole); err != nil {
		return err
	}
	place := u.parent.hold()
	return u.crew.do(name, func() error {
		defer place.release()
		defer u.crew.buffers.Put(whole)
		return u.create(parent, base, header, func(file *os.File) error {
			end, err := writeBlocks(file, *whole, 0)
			if err != nil {
				return err
			}
			return lengthen(file, end, header.Size)
		})
	})
}

// create makes a file with what fill writes to it. Several may run beside one another.
func (u *unpacker) create(parent *os.Root, base string, header *tar.Header, fill func(*os.File) error) error {
	// With the mode that it will have, as far as the umask allows: nobody else gets into the home yet.
	mode := fileMode(header.Mode).Perm() | 0o600
	file, err := parent.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	if err = fill(file); err == nil {
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
	if err := u.crew.wait(); err != nil { // it may be making the target
		return err
	}
	info, err := u.top.root.Lstat(target)
	if err != nil {
		return unsafe("it links to %q: %v", target, err)
	}
	if !info.Mode().IsRegular() {
		return unsafe("it links to %q, which is no file", target)
	}
	return u.top.root.Link(target, name)
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
	return parent.Chtimes(base, header.ModTime, header.ModTime)
}
