// Package manifest reads Kubernetes manifests from files, folders, standard input and Git revisions, as kubectl does, with the
// position of each field.
package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the name that stands for standard input.
const Stdin = "-"

// Set is the manifests of some sources.
type Set struct {
	Objects []*Object
	// Problems are invalid documents, of files that were named or that mention Kyklos, and files of folders that cannot be read.
	Problems []*Problem
	// Skipped are files of folders that are not YAML and do not mention Kyklos, such as templates.
	Skipped []*File
	// Notes are about other skipped files of folders: patches of kustomize and templates of Helm.
	Notes []string

	parts [][]*Object // nil for one part alone
}

// Empty reports whether nothing was found.
func (s *Set) Empty() bool {
	return len(s.Objects)+len(s.Problems)+len(s.Skipped)+len(s.Notes) == 0
}

// Parts are the objects that are applied together: those of each root kustomization, such as two overlays, with what it includes.
// Without several root kustomizations there is one part.
func (s *Set) Parts() [][]*Object {
	if s.parts == nil {
		return [][]*Object{s.Objects}
	}
	return s.parts
}

// group is in every manifest for Kyklos.
const group = "kyklos.io"

// Read reads manifests from files, from folders recursively (*.yaml, *.yml and *.json, except hidden ones), and for "-" from
// stdin.
func Read(names []string, stdin io.Reader) (*Set, error) {
	var sources []source
	for _, name := range names {
		if err := read(name, stdin, func(s source) { sources = append(sources, s) }); err != nil {
			return nil, err
		}
	}
	return setOf(sources), nil
}

// ReadSource reads a file, a folder, standard input, or REVISION:PATH. An existing file is not taken for a revision.
func ReadSource(ctx context.Context, name string, stdin io.Reader) (*Set, error) {
	if name == Stdin {
		return Read([]string{name}, stdin)
	}
	_, err := os.Stat(name)
	if err == nil {
		return Read([]string{name}, nil)
	}
	revision, path, found := strings.Cut(name, ":")
	if !found {
		return nil, fmt.Errorf("%w: use an existing file or folder, REVISION:PATH, or for all paths of a revision kyklos diff REVISION -- PATH", err)
	}
	return ReadRevision(ctx, revision, []string{path})
}

// ReadExisting reads the paths that exist: a change may have removed others.
func ReadExisting(paths []string) (*Set, error) {
	var existing []string
	for _, path := range paths {
		switch _, err := os.Stat(path); {
		case err == nil:
			existing = append(existing, path)
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	return Read(existing, nil)
}

func setOf(sources []source) *Set {
	var set Set
	layout := layoutOf(sources)
	for _, s := range sources {
		if !layout.skips(s) {
			set.add(s)
		}
	}
	set.Notes, set.parts = layout.notes(), layout.together(set.Objects)
	return &set
}

// Files returns the files that Read would parse. Any that cannot be read is an error.
func Files(names []string, stdin io.Reader) (files []*File, err error) {
	var unreadable error
	for _, name := range names {
		err := read(name, stdin, func(s source) {
			files, unreadable = append(files, s.File), errors.Join(unreadable, s.unreadable)
		})
		if err != nil {
			return nil, err
		}
	}
	return files, unreadable
}

// read calls add for the files of a source, which are not named if they were found in a folder.
func read(name string, stdin io.Reader, add func(source)) error {
	if name == Stdin {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		add(source{File: newFile(Stdin, "", data), named: true})
		return nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() { // maybe a pipe, as with <(kubectl kustomize)
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		add(source{File: newFile(name, name, data), named: true})
		return nil
	}
	folder := name + string(filepath.Separator) // WalkDir does not follow a link without the separator
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == folder:
			return err
		case err != nil:
			add(source{File: &File{Name: path, Path: path}, unreadable: err})
			return nil
		case path != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir() || !isManifest(path):
			return nil
		}
		add(readEntry(path))
		return nil
	})
}

// readEntry reads a file of a folder. Others than regular ones are not read: a pipe might never end.
func readEntry(path string) source {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	return source{File: newFile(path, path, data), unreadable: err}
}

// add parses a file. Its problems count if it was named, or mentions Kyklos.
func (s *Set) add(from source) {
	if from.unreadable != nil {
		s.Problems = append(s.Problems, &Problem{File: from.File, Reason: from.unreadable.Error()})
		return
	}
	objects, problems := Parse(from.File)
	s.Objects = append(s.Objects, objects...)
	if len(problems) > 0 && !from.named && !bytes.Contains(from.Data, []byte(group)) {
		s.Skipped = append(s.Skipped, from.File)
		return
	}
	s.Problems = append(s.Problems, problems...)
}

// isManifest decides by the extension, as kubectl does in a folder.
func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path))) || filepath.Base(path) == "Kustomization"
}
