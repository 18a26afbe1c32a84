package home

import (
	"context"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// Measure counts what Pack would report at its end, without reading files. A nil folder is a home that was never created.
func Measure(ctx context.Context, folder *os.Root) (Progress, error) {
	if folder == nil {
		return Progress{Entries: 1}, nil
	}
	m := &measurer{ctx: ctx, links: map[inode]bool{}, total: Progress{Entries: 1}}
	err := m.folder(folder)
	return m.total, err
}

type measurer struct {
	ctx   context.Context
	links map[inode]bool
	total Progress
}

// folder counts the content of a folder.
func (m *measurer) folder(folder *os.Root) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	list, err := folder.Open(".")
	if err != nil {
		return err
	}
	names, err := list.Readdirnames(-1)
	_ = list.Close()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := m.child(folder, name); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurer) child(folder *os.Root, name string) error {
	info, err := folder.Lstat(name)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		m.total.Entries++
		inner, err := folder.OpenRoot(name)
		if err != nil {
			return err
		}
		defer func() { _ = inner.Close() }()
		return m.folder(inner)
	case fs.ModeSymlink:
		m.total.Entries++
	case 0:
		m.total.Entries++
		m.file(info)
	}
	return nil
}

// file counts the content of a file under the first of its names.
func (m *measurer) file(info fs.FileInfo) {
	stat := info.Sys().(*syscall.Stat_t)
	if stat.Nlink > 1 {
		id := inode{uint64(stat.Dev), stat.Ino} //nolint:unconvert // Dev is an int32 elsewhere
		if m.links[id] {
			return
		}
		m.links[id] = true
	}
	m.total.Bytes += min(info.Size(), math.MaxInt64-m.total.Bytes)
}
