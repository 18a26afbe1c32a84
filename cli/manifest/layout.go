package manifest

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// source is a file that is to be read. Named says that it was so itself, and not found in a folder.
type source struct {
	*File
	named bool
}

// layout is what folders are made for: what to leave out of them, since it is no manifest by itself, and what goes together.
type layout struct {
	kustomizations map[string]*kustomization // by folder
	charts         []string                  // the folders of Helm charts
	patches        map[string]bool           // paths of files
	named          map[*File]bool            // those that were named themselves
	// left counts what was left out, patches under "" and templates by their chart.
	left map[string]int
}

func layoutOf(sources []source) *layout {
	l := &layout{kustomizations: make(map[string]*kustomization), patches: make(map[string]bool), named: make(map[*File]bool), left: make(map[string]int)}
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

// place is the path as it is compared: clean, with slashes. That of standard input is no path.
func (f *File) place() string {
	if f.Path == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(f.Path))
}

// leavesOut reports whether a file is no manifest by itself: a patch, or a template of a chart. Those that are named are taken for what they say.
func (l *layout) leavesOut(s source) bool {
	if s.named {
		return false
	}
	file := s.place()
	if l.patches[file] {
		l.left[""]++
		return true
	}
	for _, chart := range l.charts {
		if strings.HasPrefix(file, path.Join(chart, "templates")+"/") {
			l.left[chart]++
			return true
		}
	}
	return false
}

// roots are the folders whose kustomization no other one takes in, and the paths that each of them takes in.
func (l *layout) roots() (folders []string, taken map[string]map[string]bool) {
	inner := make(map[string]bool)
	for folder, k := range l.kustomizations {
		for _, entry := range k.entries() {
			inner[path.Join(folder, entry)] = true
		}
	}
	taken = make(map[string]map[string]bool)
	for folder := range maps.Keys(l.kustomizations) {
		if !inner[folder] {
			folders = append(folders, folder)
			taken[folder] = make(map[string]bool)
			l.take(folder, taken[folder])
		}
	}
	slices.Sort(folders)
	return folders, taken
}

// take adds the paths that the kustomization of a folder takes in: files, and the folders of other ones with theirs.
func (l *layout) take(folder string, into map[string]bool) {
	if k := l.kustomizations[folder]; k != nil && !into[folder] {
		into[folder] = true
		for _, entry := range k.entries() {
			below := path.Join(folder, entry)
			l.take(below, into)
			into[below] = true
		}
	}
}

// together are the objects that are applied together as far as kustomizations tell: those that each of several roots takes in, what two of
// them take in being in both, and those that none does, of which those of named files go with each: they were given for all. It is nil if
// there are no two roots.
func (l *layout) together(objects []*Object) (parts [][]*Object) {
	folders, taken := l.roots()
	if len(folders) < 2 {
		return nil
	}
	parts = make([][]*Object, len(folders)+1)
	for _, object := range objects {
		place := object.File.place()
		free := !slices.ContainsFunc(folders, func(folder string) bool { return taken[folder][place] })
		for i, folder := range folders {
			if taken[folder][place] || free && l.named[object.File] {
				parts[i] = append(parts[i], object)
			}
		}
		if free {
			parts[len(folders)] = append(parts[len(folders)], object)
		}
	}
	return slices.DeleteFunc(parts, func(part []*Object) bool { return len(part) == 0 })
}

// notes say what is left out, and how to see what is applied in its place.
func (l *layout) notes() (all []string) {
	folders, taken := l.roots()
	changes := func(below string) bool { return l.kustomizations[below] != nil && l.kustomizations[below].changes() }
	folders = slices.DeleteFunc(folders, func(folder string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(taken[folder])), changes)
	})
	if len(folders) > 0 {
		others, patches := "", ""
		if len(folders) > 1 {
			others = fmt.Sprintf(" (and %d more)", len(folders)-1)
		}
		if l.left[""] > 0 {
			patches = fmt.Sprintf(" (files of patches left out: %d)", l.left[""])
		}
		all = append(all, fmt.Sprintf("%s%s is made for kustomize, and read as it stands, without patches%s: give what it renders, as in kubectl kustomize %s | kyklos lint -f -",
			folders[0], others, patches, folders[0]))
	}
	for _, chart := range l.charts {
		if l.left[chart] > 0 {
			all = append(all, fmt.Sprintf("%s is a Helm chart: its templates are left out; give what it renders, as in helm template %s | kyklos lint -f -", chart, chart))
		}
	}
	return all
}
