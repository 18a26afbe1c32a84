package apiserver

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/cli/manifest"
)

// Server responds to requests for objects of its CustomResourceDefinitions. It is safe for concurrent use.
type Server struct {
	kinds    map[schema.GroupKind]*definition
	groups   map[string]bool
	webhooks bool
	// merging accepts keys of a YAML merge key that are set again.
	merging bool
}

// New reads the CustomResourceDefinitions in the files *.yaml, *.yml and *.json of the file systems. Later ones replace
// earlier ones of the same kind.
func New(sources ...fs.FS) (*Server, error) {
	s := &Server{kinds: map[schema.GroupKind]*definition{}, groups: map[string]bool{}, webhooks: true}
	for _, source := range sources {
		err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
				return err
			}
			data, err := fs.ReadFile(source, name)
			if err != nil {
				return err
			}
			return s.Add(&manifest.File{Name: name, Data: data})
		})
		if err != nil {
			return nil, err
		}
	}
	if len(s.kinds) == 0 {
		return nil, errors.New("no CustomResourceDefinition given")
	}
	return s, nil
}

// Add reads the definitions in a file.
func (s *Server) Add(file *manifest.File) error {
	objects, problems := manifest.Parse(file)
	for _, problem := range problems {
		return problem
	}
	for _, object := range objects {
		if object.GroupVersionKind().Kind != "CustomResourceDefinition" {
			continue
		}
		d, err := newDefinition(object)
		if err != nil {
			return fmt.Errorf("%s: CustomResourceDefinition %s: %w", file.Name, object.Name(), err)
		}
		s.kinds[d.kind], s.groups[d.kind.Group] = d, true
	}
	return nil
}

// WithoutWebhooks returns a server that does not call Kyklos's defaulting webhooks.
func (s *Server) WithoutWebhooks() *Server {
	return &Server{kinds: s.kinds, groups: s.groups, merging: s.merging}
}

// ForKubectl returns a server that accepts keys of a YAML merge key (<<) that are set again: kubectl merges them before it sends an
// object. For the server itself they are duplicates.
func (s *Server) ForKubectl() *Server {
	return &Server{kinds: s.kinds, groups: s.groups, webhooks: s.webhooks, merging: true}
}

// Knows reports whether the server has a definition in the kind's group. It refuses kinds and versions of the group
// that it does not serve.
func (s *Server) Knows(kind schema.GroupVersionKind) bool {
	return s.groups[kind.Group] && !s.isList(kind)
}

func (s *Server) isList(kind schema.GroupVersionKind) bool {
	_, ok := s.kinds[schema.GroupKind{Group: kind.Group, Kind: strings.TrimSuffix(kind.Kind, "List")}]
	return ok && strings.HasSuffix(kind.Kind, "List")
}

// Kinds returns the served kinds and versions, sorted.
func (s *Server) Kinds() (served []schema.GroupVersionKind) {
	for kind, d := range s.kinds {
		for _, name := range slices.Sorted(maps.Keys(d.versions)) {
			served = append(served, kind.WithVersion(name))
		}
	}
	slices.SortFunc(served, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return served
}

func (s *Server) version(object *manifest.Object) (*version, error) {
	kind := object.GroupVersionKind()
	if d := s.kinds[kind.GroupKind()]; d != nil {
		if v := d.versions[kind.Version]; v != nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("no matches for kind %q in version %q", kind.Kind, kind.GroupVersion())
}

// Schema returns the structural schema of a served kind, nil for others. It must not be changed.
func (s *Server) Schema(kind schema.GroupVersionKind) *structuralschema.Structural {
	if d := s.kinds[kind.GroupKind()]; d != nil && d.versions[kind.Version] != nil {
		return d.versions[kind.Version].Structural
	}
	return nil
}
