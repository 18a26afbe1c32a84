package manifest

import (
	"bytes"
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

// Set is what some sources say together.
type Set struct {
	Objects []*Object
	// Problems are documents that cannot be read, of files that were named or that speak of Kyklos.
	Problems []*Problem
	// Skipped are files of folders that cannot be read as YAML and do not speak of Kyklos, as templates do.
	Skipped []*File
	// Notes say what else of folders was left out, since it is made into manifests and is none: patches of kustomize, and templates of Helm.
	Notes []string

	parts [][]*Object // nil for one part alone
}

// Parts are the objects by what is applied together: kustomizations that do not take each other in, as those of two overlays, each by
// themselves with what both take in. It is everything at once where nothing tells more.
func (s *Set) Parts() [][]*Object {
	if s.parts == nil {
		return [][]*Object{s.Objects}
	}
	return s.parts
}

// group is what every manifest for Kyklos has in it.
const group = "kyklos.io"

// Read reads manifests from files, from folders with all that is below them (*.yaml, *.yml and *.json, nothing
// hidden), and for "-" from stdin, in the order given and by name. The error says which source cannot be read at all.
func Read(names []string, stdin io.Reader) (*Set, error) {
	var sources []source
	for _, name := range names {
		if err := read(name, stdin, func(file *File, named bool) { sources = append(sources, source{file, named}) }); err != nil {
			return nil, err
		}
	}
	return setOf(sources), nil
}

// setOf reads the objects of files.
func setOf(sources []source) *Set {
	var set Set
	layout := layoutOf(sources)
	for _, s := range sources {
		if !layout.leavesOut(s) {
			set.add(s)
		}
	}
	set.Notes, set.parts = layout.notes(), layout.together(set.Objects)
	return &set
}

// Files returns what Read would read, as it is.
func Files(sources []string, stdin io.Reader) (files []*File, err error) {
	for _, source := range sources {
		if err := read(source, stdin, func(file *File, _ bool) { files = append(files, file) }); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// read gives the files of a source to add, and whether they were named themselves.
func read(source string, stdin io.Reader, add func(file *File, named bool)) error {
	if source == Stdin {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		add(&File{Name: Stdin, Data: data}, true)
		return nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return readFile(source, true, add)
	}
	folder := source + string(filepath.Separator) // otherwise one that is a link would not be followed
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != folder && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir() || !isManifest(path):
			return nil
		}
		return readFile(path, false, add)
	})
}

func readFile(path string, named bool, add func(*File, bool)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	add(&File{Name: path, Path: path, Data: data}, named)
	return nil
}

// add takes in a file. What cannot be read of it matters if the file was named, or speaks of Kyklos.
func (s *Set) add(from source) {
	objects, problems := Parse(from.File)
	s.Objects = append(s.Objects, objects...)
	if len(problems) > 0 && !from.named && !bytes.Contains(from.Data, []byte(group)) {
		s.Skipped = append(s.Skipped, from.File)
		return
	}
	s.Problems = append(s.Problems, problems...)
}

// isManifest goes by the ending, as kubectl does in a folder.
func isManifest(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path))) || filepath.Base(path) == "Kustomization"
}
