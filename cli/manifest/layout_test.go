package manifest_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/cli/manifest"
)

// shop is a repository as GitOps tools like them: a base, two overlays, an unused folder, and a chart.
var shop = map[string]string{
	"base/kustomization.yaml":   "resources: [web.yaml]\n",
	"base/web.yaml":             configMap("web"),
	"live/a/kustomization.yaml": "resources: [../../base, hours.yaml, 'https://example.com/more']\npatches: [{path: patch.yaml}, {patch: inline}]\npatchesJson6902: [{path: six.yaml}]\npatchesStrategicMerge:\n- merge.yaml\n- |\n  kind: Web\n  name: inline\n",
	"live/a/hours.yaml":         configMap("hours"),
	"live/a/patch.yaml":         configMap("patch"), "live/a/six.yaml": "- {op: add, path: /a, value: kyklos.io}\n", "live/a/merge.yaml": configMap("merge"),
	"live/b/Kustomization": "bases: [../../base/]\nnamespace: b\n",
	"loose.yaml":           configMap("loose"),
	"chart/Chart.yaml":     "apiVersion: v2\nname: shop\n", "chart/templates/a.yaml": "a: {{ kyklos.io }}\n", "chart/templates/deep/b.yaml": configMap("templated"),
	"chart/crds/c.yaml": configMap("definition"), "templates/d.yaml": configMap("template"),
}

// parts are the names of the objects that are applied together.
func parts(set *manifest.Set) (all []string) {
	for _, part := range set.Parts() {
		all = append(all, strings.Join(names(&manifest.Set{Objects: part}), ", "))
	}
	return all
}

// Patches and templates are not manifests, and are skipped with a note; objects of two overlays are independent of each other. A revision
// is read like files.
func TestLayout(t *testing.T) {
	repository(t)
	write(t, ".", shop)
	commit(t, "all")
	files, err := manifest.Read([]string{"."}, nil)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := manifest.ReadRevision(t.Context(), "HEAD", nil)
	if err != nil {
		t.Fatal(err)
	}
	for prefix, set := range map[string]*manifest.Set{"": files, "HEAD:": revision} {
		want := []string{"web #base/web.yaml, hours #live/a/hours.yaml", "web #base/web.yaml", "definition #chart/crds/c.yaml, loose #loose.yaml, template #templates/d.yaml"}
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "#", prefix)
		}
		if diff := cmp.Diff(want, parts(set)); diff != "" || len(set.Problems)+len(set.Skipped) > 0 {
			t.Errorf("%q: %v, %v (-want +got)\n%s", prefix, set.Problems, set.Skipped, diff)
		}
		notes := []string{
			"live/a (and 1 more) is a kustomization, and read without its patches (patch files skipped: 3): use its output, as in kubectl kustomize live/a | kyklos lint -f -",
			"chart is a Helm chart, and its templates are skipped: use its output, as in helm template chart | kyklos lint -f -",
		}
		if diff := cmp.Diff(notes, set.Notes); diff != "" {
			t.Errorf("%q (-want +got)\n%s", prefix, diff)
		}
	}
}

// A named file is read by its content, and resources alone change nothing.
func TestLayoutOfSomeFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", shop)
	for line, want := range map[string][]string{
		"live/a/patch.yaml live/a/kustomization.yaml": {"patch live/a/patch.yaml"},
		"base":            {"web base/web.yaml"},
		"base loose.yaml": {"web base/web.yaml, loose loose.yaml"},
		"base live loose.yaml": { // for all overlays
			"web base/web.yaml, hours live/a/hours.yaml, loose loose.yaml", "web base/web.yaml, loose loose.yaml", "loose loose.yaml",
		},
		"base/../base ./live/b":       {"web base/web.yaml"},
		"chart/templates/deep/b.yaml": {"templated chart/templates/deep/b.yaml"},
	} {
		set, err := manifest.Read(strings.Fields(line), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, parts(set)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", line, diff)
		}
		if made := strings.Contains(line, "live"); made != (len(set.Notes) == 1) {
			t.Errorf("%s: %q", line, set.Notes)
		}
	}
}

// folders are kustomizations that take each other in: which folder takes in which, and which lists its own file.
type folders struct {
	takesIn [][]bool
	lists   []bool
}

func drawFolders(r *rapid.T) folders {
	f := folders{}
	for i := range rapid.IntRange(1, 6).Draw(r, "folders") {
		f.lists = append(f.lists, rapid.IntRange(0, 3).Draw(r, "lists") > 0)
		f.takesIn = append(f.takesIn, rapid.SliceOfN(rapid.Bool(), i, i).Draw(r, "takes in")) // none of those to come
	}
	return f
}

// reaches walks from a folder to another one.
func (f folders) reaches(from, to int) bool {
	if from == to {
		return true
	}
	for next, is := range f.takesIn[from] {
		if is && f.reaches(next, to) {
			return true
		}
	}
	return false
}

// parts are those that follow: what each root reaches, and the rest; without two roots all is one.
func (f folders) parts() (all []string) {
	roots := 0
	text := func(member func(int) bool) {
		var names []string
		for i := range f.lists {
			if member(i) {
				names = append(names, fmt.Sprint("o", i))
			}
		}
		if len(names) > 0 {
			all = append(all, strings.Join(names, " "))
		}
	}
	for i := range f.lists {
		if slices.ContainsFunc(f.takesIn, func(inner []bool) bool { return len(inner) > i && inner[i] }) {
			continue
		}
		roots++
		text(func(j int) bool { return f.lists[j] && f.reaches(i, j) })
	}
	if roots < 2 {
		all = nil
		text(func(int) bool { return true })
		return all
	}
	text(func(j int) bool { return !f.lists[j] }) // every folder is reached by a root
	return all
}

func (f folders) files() map[string]string {
	files := make(map[string]string)
	for i := range f.lists {
		text := "resources:\n"
		if f.lists[i] {
			text += "- own.yaml\n"
		}
		for j, is := range f.takesIn[i] {
			if is {
				text += fmt.Sprintf("- ../f%d\n", j)
			}
		}
		files[fmt.Sprintf("f%d/kustomization.yaml", i)], files[fmt.Sprintf("f%d/own.yaml", i)] = text, configMap(fmt.Sprint("o", i))
	}
	return files
}

// Whatever takes in what, an object is applied with those that the same root reaches, and with the rest if none does.
func TestPartsAreWhatRootsReach(t *testing.T) {
	dir := t.TempDir()
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		f, root := drawFolders(r), filepath.Join(dir, fmt.Sprint(round))
		round++
		write(t, root, f.files())
		set, err := manifest.Read([]string{root}, nil)
		if err != nil {
			r.Fatal(err)
		}
		var got []string
		for _, part := range set.Parts() {
			var own []string
			for _, object := range part {
				own = append(own, object.Name())
			}
			got = append(got, strings.Join(own, " "))
		}
		if diff := cmp.Diff(f.parts(), got); diff != "" {
			r.Fatalf("%v (-want +got)\n%s", f, diff)
		}
	})
}
