package manifest

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	k8syaml "sigs.k8s.io/yaml"
)

// source is a file, either named or found in a folder.
type source struct {
	*File
	named bool
	// unreadable is why a file of a folder cannot be read.
	unreadable error
}

// layout finds files of folders that are not manifests by themselves, and objects that are applied together.
type layout struct {
	kustomizations map[string]*kustomization // by folder
	charts         []string                  // the folders of Helm charts
	patches        map[string]bool           // paths of files
	named          map[*File]bool
	skipped        map[string]int // number of skipped files: templates by their chart, patches under ""
}

func layoutOf(sources []source) *layout {
	l := &layout{kustomizations: make(map[string]*kustomization), patches: make(map[string]bool), named: make(map[*File]bool), skipped: make(map[string]int)}
	for _, s := range sources {
		l.named[s.File] = s.named
		folder, name := path.Split(s.place())
		switch {
		case name == "Chart.yaml":
			l.charts = append(l.charts, path.Clean(folder))
		case slices.Contains(kustomizationNames, name):
			if k := readKustomization(s.Data); k != nil {
				l.kustomizations[path.Clean(folder)] = k
			}
		}
	}
	for folder, k := range l.kustomizations {
		for _, file := range k.patchFiles() {
			l.patches[path.Join(folder, file)] = true
		}
	}
	slices.Sort(l.charts)
	return l
}

// place is the clean path with slashes, "" for standard input.
func (f *File) place() string {
	if f.Path == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(f.Path))
}

// skips reports whether a file is a patch, or a template of a chart. Named files are never skipped.
func (l *layout) skips(s source) bool {
	if s.named {
		return false
	}
	file := s.place()
	if l.patches[file] {
		l.skipped[""]++
		return true
	}
	for _, chart := range l.charts {
		if strings.HasPrefix(file, path.Join(chart, "templates")+"/") {
			l.skipped[chart]++
			return true
		}
	}
	return false
}

// roots are the folders whose kustomization no other one includes, and the paths that each of them includes.
func (l *layout) roots() (folders []string, included map[string]map[string]bool) {
	inner := make(map[string]bool)
	for folder, k := range l.kustomizations {
		for _, entry := range k.entries() {
			inner[path.Join(folder, entry)] = true
		}
	}
	included = make(map[string]map[string]bool)
	for folder := range maps.Keys(l.kustomizations) {
		if !inner[folder] {
			folders = append(folders, folder)
			included[folder] = make(map[string]bool)
			l.include(folder, included[folder])
		}
	}
	slices.Sort(folders)
	return folders, included
}

// include adds the paths that the kustomization of a folder includes, recursively.
func (l *layout) include(folder string, into map[string]bool) {
	if k := l.kustomizations[folder]; k != nil && !into[folder] {
		into[folder] = true
		for _, entry := range k.entries() {
			below := path.Join(folder, entry)
			l.include(below, into)
			into[below] = true
		}
	}
}

// together groups the objects that are applied together: those that each root includes, and those that none does. Objects of named
// files outside of all roots are in every group. It is nil without two roots.
func (l *layout) together(objects []*Object) (parts [][]*Object) {
	folders, included := l.roots()
	if len(folders) < 2 {
		return nil
	}
	parts = make([][]*Object, len(folders)+1)
	for _, object := range objects {
		place := object.File.place()
		free := !slices.ContainsFunc(folders, func(folder string) bool { return included[folder][place] })
		for i, folder := range folders {
			if included[folder][place] || free && l.named[object.File] {
				parts[i] = append(parts[i], object)
			}
		}
		if free {
			parts[len(folders)] = append(parts[len(folders)], object)
		}
	}
	return slices.DeleteFunc(parts, func(part []*Object) bool { return len(part) == 0 })
}

func (l *layout) notes() (all []string) {
	folders, included := l.roots()
	changes := func(below string) bool { return l.kustomizations[below] != nil && l.kustomizations[below].changes() }
	folders = slices.DeleteFunc(folders, func(folder string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(included[folder])), changes)
	})
	if len(folders) > 0 {
		others, patches := "", ""
		if len(folders) > 1 {
			others = fmt.Sprintf(" (and %d more)", len(folders)-1)
		}
		if l.skipped[""] > 0 {
			patches = fmt.Sprintf(" (patch files skipped: %d)", l.skipped[""])
		}
		all = append(all, fmt.Sprintf("%s%s is a kustomization, and read without its patches%s: use its output, as in kubectl kustomize %s | kyklos lint -f -",
			folders[0], others, patches, folders[0]))
	}
	for _, chart := range l.charts {
		if l.skipped[chart] > 0 {
			all = append(all, fmt.Sprintf("%s is a Helm chart, and its templates are skipped: use its output, as in helm template %s | kyklos lint -f -", chart, chart))
		}
	}
	return all
}

// kustomizationNames are the files that kustomize reads in a folder.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

type kustomization struct {
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"` // the older name
	Components []string `json:"components"`

	Patches               []patch  `json:"patches"`
	PatchesJSON6902       []patch  `json:"patchesJson6902"`
	PatchesStrategicMerge []string `json:"patchesStrategicMerge"` // paths, or the patches themselves

	Namespace    string `json:"namespace"`
	NamePrefix   string `json:"namePrefix"`
	NameSuffix   string `json:"nameSuffix"`
	Replicas     []any  `json:"replicas"`
	Replacements []any  `json:"replacements"`
	Transformers []any  `json:"transformers"`
	Generators   []any  `json:"generators"`
	HelmCharts   []any  `json:"helmCharts"`
}

// patch is in a file, or without a path inline.
type patch struct {
	Path string `json:"path"`
}

// readKustomization returns nil if the file is not YAML. Fields of the wrong type are ignored.
func readKustomization(data []byte) *kustomization {
	var k kustomization
	asJSON, err := k8syaml.YAMLToJSON(data)
	if err != nil {
		return nil
	}
	_ = k8syaml.Unmarshal(asJSON, &k)
	return &k
}

// entries are the files and folders that it includes, relative to its own. Remote ones match no file.
func (k *kustomization) entries() []string {
	return slices.Concat(k.Resources, k.Bases, k.Components)
}

func (k *kustomization) patchFiles() (paths []string) {
	for _, p := range slices.Concat(k.Patches, k.PatchesJSON6902) {
		if p.Path != "" {
			paths = append(paths, p.Path)
		}
	}
	for _, text := range k.PatchesStrategicMerge {
		if !strings.Contains(text, "\n") {
			paths = append(paths, text)
		}
	}
	return paths
}

// changes reports whether it changes what it includes in a way that matters to Kyklos, unlike labels, annotations and images.
func (k *kustomization) changes() bool {
	some := len(k.Patches) + len(k.PatchesJSON6902) + len(k.PatchesStrategicMerge) + len(k.Components) +
		len(k.Replicas) + len(k.Replacements) + len(k.Transformers) + len(k.Generators) + len(k.HelmCharts)
	return some > 0 || k.Namespace+k.NamePrefix+k.NameSuffix != ""
}
