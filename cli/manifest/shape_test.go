package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ours = "apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: web}\n"

// What kubectl refuses, or no program reads, is reported and not skipped.
func TestMisshapen(t *testing.T) {
	item := "- {apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: web}}\n"
	list := "apiVersion: v1\nkind: List\nitems:\n"
	for name, tc := range map[string]struct {
		text, want string
		line       int
		objects    int // that are read nevertheless
	}{
		"no kind":                      {strings.Replace(ours, "kind:", "Kind:", 1), "kind is missing", 1, 0},
		"an empty kind":                {strings.Replace(ours, "TimeWindowScaler", `""`, 1), "kind is missing", 2, 0},
		"no apiVersion":                {strings.Replace(ours, "apiVersion: kyklos.io/v1beta1\n", "", 1), "apiVersion is missing", 1, 0},
		"an apiVersion without one":    {strings.Replace(ours, "/v1beta1", "", 1), `"kyklos.io" is not a version of Kyklos`, 1, 0},
		"an apiVersion of three parts": {strings.Replace(ours, "v1beta1", "v1/beta1", 1), "is not a version of Kyklos", 1, 0},
		"a group in capitals":          {strings.Replace(ours, "kyklos", "Kyklos", 1), "is not a version of Kyklos", 1, 0},
		"a sequence":                   {"# all\n" + item, "a sequence is not an object", 2, 0},
		"text behind a separator":      {ours + "--- {a: b}\n" + ours, `"--- {a: b}" does not separate documents`, 4, 1},
		"a longer separator":           {ours + "----\n" + ours, "does not separate documents", 4, 1},
		"a comment without a blank":    {"---# next\n" + ours, "does not separate documents", 1, 0},
		"a document behind dots":       {ours + "...\n" + ours, "ignored text after the end of a document", 4, 1},
		"text behind JSON":             {`{"apiVersion": "v1", "kind": "Secret"} xyz`, "ignored text after the end of a document", 1, 1},
		"a second JSON that is broken": {`{"apiVersion": "v1", "kind": "Secret"}` + "\n" + `{"apiVersion": `, "ignored text after the end of a document", 1, 1},
		"an item without a type":       {list + item + "- metadata: {name: web}\n", "items[1] of the list is not an object", 5, 1},
		"an item that is a text":       {list + "- web\n" + item, "items[0] of the list is not an object", 4, 1},
		"a list in a list":             {list + "- {apiVersion: v1, kind: List, items: []}\n", "is a list, which kubectl does not expand", 4, 0},
		"a list of no sequence":        {"apiVersion: v1\nkind: List\nitems: {a: b}\n", "items of the List is not a sequence", 3, 0},
		"a list without items":         {"apiVersion: v1\nkind: List\n", "items of the List is not a sequence", 1, 0},
	} {
		objects, problems := parse(t, tc.text)
		if len(problems) != 1 || len(objects) != tc.objects {
			t.Errorf("%s: %d objects, problems %v", name, len(objects), problems)
			continue
		}
		if got := problems[0]; got.Line != tc.line || !strings.Contains(got.Reason, tc.want) {
			t.Errorf("%s: line %d, %s; want line %d, ...%s...", name, got.Line, got.Reason, tc.line, tc.want)
		}
	}
}

// Documents for other programs are skipped, whatever their shape.
func TestForeignShapes(t *testing.T) {
	for name, text := range map[string]string{
		"a kustomization":     "resources: [a.yaml]\n",
		"a patch":             "- {op: remove, path: /spec/replicas}\n",
		"a list of texts":     "apiVersion: example.com/v1\nkind: AllowList\nitems: [a, b]\n",
		"dots and nothing":    one + "...\n# the end\n",
		"dots and another":    one + "...\n---\n" + one,
		"kind of another":     "kind: Cluster\n",
		"apiVersion and none": "apiVersion: example.com/v1\n",
	} {
		if _, problems := parse(t, text); len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// Items of a list of one kind have its type, as kubectl gives it to them.
func TestItemsInherit(t *testing.T) {
	objects, problems := parse(t, `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScalerList
items:
- metadata: {name: web}
  spec: {pause: true, pause: false}
- {metadata: {name: api}}
`)
	if len(problems) > 0 || len(objects) != 2 {
		t.Fatalf("%d objects, problems %v", len(objects), problems)
	}
	for i, want := range []string{"web", "api"} {
		again, _ := parse(t, string(objects[i].Raw))
		if len(again) != 1 || again[0].Name() != want || again[0].GroupVersionKind().String() != "kyklos.io/v1beta1, Kind=TimeWindowScaler" {
			t.Errorf("item %d is\n%s", i, objects[i].Raw)
		}
	}
	if strings.Count(string(objects[0].Raw), "pause:") != 2 {
		t.Errorf("keys that are there twice are gone:\n%s", objects[0].Raw)
	}
	at, _ := objects[0].Position("spec.pause")
	if diff := cmp.Diff([]int{5, 30}, []int{at.Line, at.Column}); diff != "" {
		t.Errorf("spec.pause (-want +got)\n%s", diff)
	}
}
