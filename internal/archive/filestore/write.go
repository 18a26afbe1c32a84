package filestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"kyklos.io/kyklos/internal/archive"
)

// Put implements archive.Writer.
func (s *Store) Put(ctx context.Context, name string, body []byte) error {
	return s.PutStream(ctx, name, bytes.NewReader(body))
}

// PutStream implements archive.Writer.
func (s *Store) PutStream(ctx context.Context, name string, body io.Reader) error {
	root, err := s.openFor(name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.Mkdir(unfinished, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return wrap(name, err)
	}
	draft := temporary()
	defer func() { _ = root.Remove(draft) }()
	if err := writeDraft(root, draft, contextReader{ctx, body}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return publish(root, draft, name)
}

// WriteNote stores a note and replaces the previous one. It is not synced: the next one follows soon.
func (s *Store) WriteNote(ctx context.Context, key archive.Key, note []byte) error {
	name := key.Note()
	root, err := s.openFor(name)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(unfinished, 0o700); err != nil {
		return wrap(name, err)
	}
	draft := temporary()
	defer func() { _ = root.Remove(draft) }()
	if err := root.WriteFile(draft, note, 0o600); err != nil {
		return wrap(name, err)
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return wrap(name, err)
	}
	return wrap(name, root.Rename(draft, name))
}

// contextReader fails when ctx ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(into)
}

func writeDraft(root *os.Root, draft string, body io.Reader) error {
	file, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return wrap(draft, err)
	}
	_, err = io.Copy(file, body)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// publish links a draft to its name. It retries, as Delete may remove the folder in between.
func publish(root *os.Root, draft, name string) error {
	var err error
	for range 10 {
		if err = root.MkdirAll(path.Dir(name), 0o700); err != nil {
			continue
		}
		if err = root.Link(draft, name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return wrap(name, err)
	}
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		if err := syncFolder(root, folder); err != nil || folder == "." {
			return wrap(name, err)
		}
	}
}

func syncFolder(root *os.Root, folder string) error {
	file, err := root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Issue returns the folder. Anyone with access can read all of it: a file store is for a cluster on one machine, whose
// movers are processes of the same user.
func (s *Store) Issue(_ context.Context, order archive.Order) (archive.Ticket, error) {
	return archive.Ticket{Key: order.Key.Data(), Folder: s.folder, Attempt: order.Attempt, Expires: order.Now.Add(order.Valid)}, nil
}

// Revoke does nothing: there is no upload to abort.
func (s *Store) Revoke(context.Context, archive.Ticket) error { return nil }

// sortedEntries returns a folder's entries, sorted as if names of folders ended with a slash.
func sortedEntries(root *os.Root, folder string) ([]fs.DirEntry, error) {
	file, err := root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	entries, err := file.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	return entries, err
}

func sortName(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}
