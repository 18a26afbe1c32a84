package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/manifest"
)

const one = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"

func parse(t *testing.T, text string) ([]*manifest.Object, []*manifest.Problem) {
	t.Helper()
	return manifest.Parse(&manifest.File{Name: "file.yaml", Data: []byte(text)})
}

// The documents are those that kubectl finds, and each knows its first line.
func TestDocuments(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []int // the lines on which the objects begin
	}{
		"one":                        {one, []int{1}},
		"after a comment":            {"# why\n" + one, []int{1}},
		"after a separator":          {"---\n" + one, []int{2}},
		"two":                        {one + "---\n" + one, []int{1, 5}},
		"with an empty one between":  {one + "---\n# nothing\n---\n" + one, []int{1, 7}},
		"a separator with a comment": {one + "--- # next\n" + one, []int{1, 5}},
		"a line that looks like one": {one + "data:\n  text: |\n    ----\n    --- here\n", []int{1}},
		"Windows ends of lines":      {strings.ReplaceAll(one+"---\n"+one, "\n", "\r\n"), []int{1, 5}},
		"a byte order mark":          {"\uFEFF" + one, []int{1}},
		"no end of the last line":    {one + "---\n" + strings.TrimSuffix(one, "\n"), []int{1, 5}},
		"JSON":                       {`{"apiVersion": "v1", "kind": "ConfigMap"}`, []int{1}},
		"a stream of JSON": {
			"{\"apiVersion\": \"v1\",\n\"kind\": \"ConfigMap\"}\n\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\"}", []int{1, 4},
		},
		"a flow mapping":          {"{apiVersion: v1, kind: ConfigMap}", []int{1}},
		"a list":                  {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n- apiVersion: v1\n  kind: Secret\n", []int{4, 6}},
		"an empty list":           {"apiVersion: v1\nkind: List\nitems: []\n", nil},
		"values of a chart":       {"replicas: 3\nimage: web\n", nil},
		"a sequence":              {"- apiVersion: v1\n  kind: ConfigMap\n", nil},
		"nothing":                 {"", nil},
		"a comment":               {"# nothing here\n", nil},
		"a kind of another shape": {"apiVersion: v1\nkind: Playlist\nitems: [a, b]\n", []int{1}},
	} {
		objects, problems := parse(t, tc.text)
		var got []int
		for _, object := range objects {
			got = append(got, object.Line)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s: problems %v, (-want +got)\n%s", name, problems, diff)
		}
	}
}

// A file that is not text is no template, whatever bytes it has.
func TestBinaryIsNoTemplate(t *testing.T) {
	_, problems := parse(t, "a: \x80\xff {{\n")
	if len(problems) != 1 || strings.Contains(problems[0].Reason, "template") {
		t.Errorf("problems %v", problems)
	}
}

// What cannot be read does not take its neighbours along.
func TestProblems(t *testing.T) {
	for name, tc := range map[string]struct {
		text, want string
		line       int
	}{
		"a tab":                       {"apiVersion: v1\n\tkind: ConfigMap\n", "found a tab character", 2},
		"a mapping value out of line": {"apiVersion: v1\nkind: a: b\n", "mapping values are not allowed in this context", 2},
		"a template":                  {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n", "this looks like a template: use its output", 4},
		"an alias of nothing":         {"apiVersion: v1\nkind: *nothing\n", "unknown anchor 'nothing' referenced", 1},
	} {
		objects, problems := parse(t, one+"---\n"+tc.text+"---\n"+one)
		if len(objects) != 2 || len(problems) != 1 {
			t.Errorf("%s: %d objects, problems %v", name, len(objects), problems)
			continue
		}
		// The reader of YAML counts the lines of some of its errors from the token before.
		if got := problems[0]; !strings.Contains(got.Reason, tc.want) || got.Line < 5 || got.Line > 5+tc.line-1 {
			t.Errorf("%s: line %d, %s; want line %d, ...%s...", name, got.Line, got.Reason, 5+tc.line-1, tc.want)
		}
	}
}

// Objects are parsed as the API server parses the text, not by YAML 1.2.
func TestContentIsTheServers(t *testing.T) {
	objects, problems := parse(t, "apiVersion: v1\nkind: ConfigMap\nspec: {pause: yes, octal: 010, time: 09:00, big: 3000000000, number: 1.5, twice: 1, twice: 2}\n")
	if len(problems) > 0 || len(objects) != 1 {
		t.Fatalf("%d objects, problems %v", len(objects), problems)
	}
	want := map[string]any{"pause": true, "octal": int64(8), "time": "09:00", "big": int64(3_000_000_000), "number": 1.5, "twice": int64(2)}
	if diff := cmp.Diff(want, objects[0].Object["spec"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// JSON's escapes are read as JSON's, and what follows them on the line stays where it is.
func TestSurrogatesInJSON(t *testing.T) {
	const text = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"annotations": {"a": "\ud83d\ude00"}, "name": "one"}}`
	objects, problems := parse(t, text)
	if len(problems) > 0 || len(objects) != 1 {
		t.Fatalf("%d objects, problems %v", len(objects), problems)
	}
	annotation := objects[0].Unstructured().GetAnnotations()["a"]
	if at, ok := objects[0].Position("metadata.name"); annotation != "😀" || !ok || at.Column != 1+strings.Index(text, `"one"`) {
		t.Errorf("the annotation is %q, the name at %+v", annotation, at)
	}
}

// An item of a list is an object of its own; keys that are there twice stay so in its text.
func TestItems(t *testing.T) {
	objects, _ := parse(t, `apiVersion: v1
kind: List
items:
- apiVersion: kyklos.io/v1beta1
  kind: TimeWindowScaler
  metadata: {name: web, namespace: shop}
  spec:
    pause: true
    pause: false
`)
	if len(objects) != 1 {
		t.Fatalf("%d objects", len(objects))
	}
	item := objects[0]
	if item.Name() != "web" || item.Namespace() != "shop" || item.GroupVersionKind().Kind != "TimeWindowScaler" {
		t.Errorf("%v %v", item.GroupVersionKind(), item.Key("default"))
	}
	if strings.Count(string(item.Raw), "pause:") != 2 {
		t.Errorf("its text is\n%s", item.Raw)
	}
	if at, ok := item.Position("spec.pause"); !ok || at.Line != 9 {
		t.Errorf("spec.pause is on line %d", at.Line)
	}
}
