// Package filestore keeps objects as files in a folder, for a cluster on one machine. An object is written to a temporary
// file, synced, and then linked to its name: a link never replaces an existing file, so the first of several writers
// wins and incomplete objects are never visible.
package filestore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"

	"kyklos.io/kyklos/internal/archive"
)

// unfinished is the folder of temporary files. No object's name starts with it.
const unfinished = ".unfinished"

// Store is a folder of objects. The folder is never created: a missing one may be a disk that is not mounted.
type Store struct{ folder string }

var _ archive.Issuer = (*Store)(nil)

// New returns the store in a folder, an absolute path.
func New(folder string) *Store { return &Store{folder: folder} }

// HeadBucket checks that the folder exists.
func (s *Store) HeadBucket(context.Context) error {
	root, err := s.open()
	if err != nil {
		return err
	}
	return root.Close()
}

// Head implements archive.Reader.
func (s *Store) Head(_ context.Context, name string) (archive.Object, error) {
	root, err := s.openFor(name)
	if err != nil {
		return archive.Object{}, err
	}
	defer func() { _ = root.Close() }()
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist // a folder with objects
	}
	if err != nil {
		return archive.Object{}, wrap(name, err)
	}
	return object(name, info), nil
}

// Get implements archive.Reader.
func (s *Store) Get(ctx context.Context, name string) (io.ReadCloser, archive.Object, error) {
	found, err := s.Head(ctx, name)
	if err != nil {
		return nil, archive.Object{}, err
	}
	root, err := s.open()
	if err != nil {
		return nil, archive.Object{}, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(name)
	if err != nil {
		return nil, archive.Object{}, wrap(name, err)
	}
	return file, found, nil
}

// Delete implements archive.Store. It also deletes folders that become empty.
func (s *Store) Delete(_ context.Context, name string) error {
	root, err := s.openFor(name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return wrap(name, err)
	}
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if root.Remove(folder) != nil {
			break // not empty
		}
	}
	return nil
}

// List implements archive.Store.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[archive.Object, error] {
	return func(yield func(archive.Object, error) bool) {
		root, err := s.open()
		if err != nil {
			yield(archive.Object{}, err)
			return
		}
		defer func() { _ = root.Close() }()
		err = list(ctx, root, ".", prefix, func(found archive.Object) bool { return yield(found, nil) })
		if err != nil && !errors.Is(err, fs.SkipAll) {
			yield(archive.Object{}, wrap(prefix, err))
		}
	}
}

// list walks a folder in the order of full names, in which a/b comes after a-b.
func list(ctx context.Context, root *os.Root, folder, prefix string, yield func(archive.Object) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := sortedEntries(root, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		if name == unfinished || !strings.HasPrefix(name, prefix) && !strings.HasPrefix(prefix, name+"/") {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return err
		}
		if info.IsDir() {
			if err := list(ctx, root, name, prefix, yield); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		} else if info.Mode().IsRegular() && !yield(object(name, info)) {
			return fs.SkipAll
		}
	}
	return nil
}

func (s *Store) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: the folder must exist", s.folder, archive.ErrBucketMissing)
	}
	return root, wrap(s.folder, err)
}

// openFor opens the folder for one object, if name is a valid object name.
func (s *Store) openFor(name string) (*os.Root, error) {
	if !fs.ValidPath(name) || name == "." || strings.HasPrefix(name, unfinished) {
		return nil, fmt.Errorf("%q: %w: not a valid object name", name, archive.ErrDenied)
	}
	return s.open()
}

func object(name string, info fs.FileInfo) archive.Object {
	return archive.Object{Name: name, Size: info.Size(), Modified: info.ModTime()}
}

func temporary() string { return path.Join(unfinished, rand.Text()) }

// wrap translates an error of the file system. Others, such as a full disk, are ErrUnreachable: they may be temporary.
func wrap(name string, err error) error {
	kind := archive.ErrUnreachable
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		kind = archive.ErrNotFound
	case errors.Is(err, fs.ErrExist):
		kind = archive.ErrExists
	case errors.Is(err, fs.ErrPermission):
		kind = archive.ErrDenied
	}
	return fmt.Errorf("%s: %w: %w", name, kind, err)
}
