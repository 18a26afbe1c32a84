package home

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// Unpack fills folder, which must be empty, from a stream. It writes nothing outside of folder, follows no link and
// overwrites nothing. An owner that cannot be set is reported in LeftOut, and setuid is then dropped. After an error the
// folder's content is useless.
//
// The stream is verified only at its end, so unpack to an unused folder, and Flush it before use.
func Unpack(ctx context.Context, folder *os.Root, r io.Reader, limits Limits, report func(Progress)) (Summary, error) {
	u := newUnpacker(folder)
	defer u.leave()
	if err := dropInherited(folder); err != nil {
		return Summary{}, err
	}
	summary, err := scan(ctx, r, limits, report, u.visit)
	// Also after an error: no worker may write while the caller cleans up.
	if failed := u.workers.wait(); failed != nil {
		err = failed
	}
	if err != nil {
		return Summary{}, err
	}
	if err := u.finish(func(string) bool { return false }); err != nil {
		return Summary{}, err
	}
	u.left.put(&summary)
	return summary, nil
}

// Flush waits until folder's file system is on disk. One call for each of many small files would take much longer.
func Flush(folder *os.Root) error {
	top, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }()
	return flush(top)
}

type unpacker struct {
	top     *sharedFolder
	folders []*tar.Header
	buffer  []byte
	workers *workers
	left    leftOut
	// kept is about how many bytes folders takes, and most when those with all their entries are finished.
	kept, most int

	parentName string
	parent     *sharedFolder // of the last entry
}

func newUnpacker(folder *os.Root) *unpacker {
	u := &unpacker{buffer: make([]byte, 1<<20), parentName: ".", top: share(folder), workers: newWorkers(), most: folderMemory}
	u.parent = u.top
	return u
}

// enter opens the folder of an entry, and returns the entry's name in it. Entries are sorted by folder, so it is nearly
// always open already.
func (u *unpacker) enter(name string) (*os.Root, string, error) {
	if parent := path.Dir(name); parent != u.parentName {
		u.leave()
		if parent != "." {
			opened, err := u.top.root.OpenRoot(parent)
			if err != nil {
				return nil, "", err
			}
			u.parentName, u.parent = parent, share(opened)
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

func (u *unpacker) visit(header *tar.Header, content *body) error {
	name := strings.TrimSuffix(header.Name, "/")
	switch header.Typeflag {
	case tar.TypeDir:
		if err := u.keep(header); err != nil {
			return err
		}
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

// file creates a file: a small one by a worker, while the next one is read.
func (u *unpacker) file(name string, header *tar.Header, content *body) error {
	parent, base, err := u.enter(name)
	if err != nil {
		return err
	}
	if header.Size > small || !isDense(content.regions, header.Size) {
		return u.create(parent, base, header, func(file *os.File) error { return u.fill(file, content) })
	}
	whole := u.workers.buffer(header.Size)
	if err := content.copy(*whole, func([]byte, int64) error { return nil }); err != nil {
		return err
	}
	folder := u.parent.hold()
	return u.workers.do(name, func() error {
		defer folder.release()
		defer u.workers.buffers.Put(whole)
		return u.create(parent, base, header, func(file *os.File) error {
			end, err := writeBlocks(file, *whole, 0)
			if err != nil {
				return err
			}
			return lengthen(file, end, header.Size)
		})
	})
}

// fill writes a file's content, with holes for zeros.
func (u *unpacker) fill(file *os.File, content *body) error {
	var end int64
	err := content.copy(u.buffer, func(data []byte, at int64) error {
		written, err := writeBlocks(file, data, at)
		end = max(end, written)
		return err
	})
	if err != nil {
		return err
	}
	return lengthen(file, end, content.size)
}

// create creates a file with the content that fill writes. It may run concurrently.
func (u *unpacker) create(parent *os.Root, base string, header *tar.Header, fill func(*os.File) error) error {
	// With its final mode, restricted by the umask: the home is not accessible to others yet.
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
	return u.setTime(parent, base, header)
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
	return u.setTime(within, base, header)
}

func (u *unpacker) link(name, target string) error {
	if err := u.workers.wait(); err != nil { // a worker may be creating the target
		return err
	}
	info, err := u.top.root.Lstat(target)
	if err != nil {
		return unsafe("it links to %q: %v", target, err)
	}
	if !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink {
		return unsafe("it links to %q, which is neither a file nor a symbolic link", target)
	}
	return u.top.root.Link(target, name)
}
