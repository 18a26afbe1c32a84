package convert

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	k8syaml "sigs.k8s.io/yaml"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// Of what a mapping merges, the reader takes what comes behind the merge key for more: what a window gets of its own goes there,
// and the rest of the file stays as it was.
func TestBackBehindAMerge(t *testing.T) {
	const before = `apiVersion: kyklos.io/v1beta1 # api
kind: TimeWindowScaler
metadata: {name: a}
spec:
  windows:
  # the first
  - &w
    name: x
    days: [Mon] # just
    start: "09:00"
    end: "10:00"
    replicas: 1
  - <<: *w
    name: later
    start: "10:00"
  defaultReplicas: 0
`
	older, err := File(&manifest.File{Name: "f", Data: []byte(before)}, "v1alpha1")
	if err != nil {
		t.Fatal(err)
	}
	back, err := File(&manifest.File{Name: "f", Data: older.Data}, "v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, string(back.Data)); diff != "" || len(back.Notes) > 0 {
		t.Errorf("%v (-before +there and back)\n%s", back.Notes, diff)
	}
}

// What v1alpha1 means by leaving a field out, and v1beta1 requires, is written out (A6).
func TestDefaultsAreWrittenOut(t *testing.T) {
	const head = "kind: TimeWindowScaler\nmetadata: {name: a}\nspec:\n  timezone: UTC # the zone\n"
	result, err := File(&manifest.File{Name: "f", Data: []byte("apiVersion: kyklos.io/v1alpha1\n" + head)}, "v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("apiVersion: kyklos.io/v1beta1\n"+head+"  defaultReplicas: 0\n", string(result.Data)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want := []Note{{4, "spec.defaultReplicas: 0 is written out: v1beta1 has no default for it"}}
	if diff := cmp.Diff(want, result.Notes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Each way of writing that asks for a change of another form. The notes are those without v1alpha1's lacks.
func TestForms(t *testing.T) {
	const head, older = "apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\n", "apiVersion: kyklos.io/v1alpha1\nkind: TimeWindowScaler\n"
	carried := func(spec string) string { return "kyklos.io/v1beta1-spec: '{\"spec\":{" + spec + "}}'" }
	for name, test := range map[string]struct{ before, after, note string }{
		"an entry behind a dash": {
			head + "metadata: {name: a}\nspec:\n  windows:\n  -   name: x # why\n\n      # when\n      start: a\n",
			older + "metadata: {name: a, annotations: {" + carried(`"windows":[{"name":"x","start":"a"}]`) + "}}\nspec:\n  windows:\n  -   # when\n      start: a\n",
			`3: the comment "# why" is removed with its field`,
		},
		"several behind a dash": {
			head + "metadata:\n  name: a\nspec:\n  windows:\n  - name: x\n    timezone: UTC\n    start: a",
			older + "metadata:\n  name: a\n  annotations:\n    " + carried(`"windows":[{"name":"x","start":"a","timezone":"UTC"}]`) + "\nspec:\n  windows:\n  - start: a", "",
		},
		"the last line": {
			head + "metadata:\n  name: a\nspec:\n  windows: []\n  # a share\n  baselineReplicas: 3",
			older + "metadata:\n  name: a\n  annotations:\n    " + carried(`"baselineReplicas":3,"windows":[]`) + "\nspec:\n  windows: []\n  # a share", "",
		},
		"nothing left": {
			head + "metadata: {name: a}\nspec:\n  baselineReplicas: 3\n",
			older + "metadata: {name: a, annotations: {" + carried(`"baselineReplicas":3`) + "}}\nspec: {}\n", "spec is reformatted",
		},
		"other line ends": {
			strings.ReplaceAll(head+"metadata:\n  name: a\nspec:\n  baselineReplicas: 3\n  pause: true\n", "\n", "\r\n"),
			strings.ReplaceAll(older+"metadata:\n  name: a\n  annotations:\n    "+carried(`"baselineReplicas":3,"pause":true`)+"\nspec:\n  pause: true\n", "\n", "\r\n"), "",
		},
		"no metadata": {head + "spec: {}\n", older + "metadata: {}\nspec: {}\n", ""},
		"an anchor": {
			head + "metadata: {name: a}\nspec:\n  baselineReplicas: 4\n  defaultReplicas: &half 50%\n  windows:\n  - replicas: *half\n",
			older + "metadata: {name: a, annotations: {" + carried(`"baselineReplicas":4,"defaultReplicas":"50%","windows":[{"replicas":"50%"}]`) + "}}\nspec:\n  defaultReplicas: &half 2\n  windows:\n  - replicas: *half\n", "",
		},
		"a merged window": {
			head + "metadata: {name: a}\nx: &w {name: x, start: a}\nspec:\n  windows:\n  - <<: *w\n    end: b\n",
			older + "metadata: {name: a, annotations: {" + carried(`"windows":[{"end":"b","name":"x","start":"a"}]`) + "}}\nx: &w {name: x, start: a}\nspec:\n  windows:\n  - start: a\n    end: b\n",
			"spec.windows[0] is reformatted",
		},
		"JSON": {
			"{\n  \"apiVersion\": \"kyklos.io/v1beta1\",\n  \"kind\": \"TimeWindowScaler\",\n  \"metadata\": {\n    \"name\": \"a\"\n  },\n  \"spec\": {\n    \"pause\": true,\n    \"baselineReplicas\": 3\n  }\n}\n",
			"{\n  \"apiVersion\": \"kyklos.io/v1alpha1\",\n  \"kind\": \"TimeWindowScaler\",\n  \"metadata\": {\n    \"name\": \"a\",\n    \"annotations\": {\n      \"kyklos.io/v1beta1-spec\": \"{\\\"spec\\\":{\\\"baselineReplicas\\\":3,\\\"pause\\\":true}}\"\n    }\n  },\n  \"spec\": {\n    \"pause\": true\n  }\n}\n", "",
		},
		"JSON on a line": {
			`{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","metadata":{},"spec":{}}`,
			`{"apiVersion":"kyklos.io/v1alpha1","kind":"TimeWindowScaler","metadata":{},"spec":{}}`, "",
		},
		"a list of scalers": {
			"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScalerList\nitems:\n- {apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: a}} # a\n",
			"apiVersion: kyklos.io/v1alpha1\nkind: TimeWindowScalerList\nitems:\n- {apiVersion: kyklos.io/v1alpha1, kind: TimeWindowScaler, metadata: {name: a}} # a\n", "",
		},
		"a list that says for its items what they are": {
			"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScalerList\nitems:\n- metadata: {name: a}\n  spec:\n    pause: true\n    baselineReplicas: 3\n- {apiVersion: v1, kind: Secret}\n",
			"apiVersion: kyklos.io/v1alpha1\nkind: TimeWindowScalerList\nitems:\n- metadata: {name: a, annotations: {" + carried(`"baselineReplicas":3,"pause":true`) + "}}\n  spec:\n    pause: true\n- {apiVersion: v1, kind: Secret}\n", "",
		},
		"brackets over several lines": {
			head + "metadata: {name: a}\nspec:\n  windows:\n  - {\n      # whose\n      name: x, # the name\n      # when\n      days: [Mon], # the days\n      start: a, # the start\n      timezone: UTC # the zone\n      # the end\n    }\n",
			older + "metadata: {name: a, annotations: {" + carried(`"windows":[{"days":["Mon"],"name":"x","start":"a","timezone":"UTC"}]`) + "}}\nspec:\n  windows:\n  - {\n      # whose\n      # when\n      days: [Mon], # the days\n      start: a, # the start\n      # the end\n    }\n",
			`3: the comment "# the zone" is removed with its field`,
		},
		"brackets that close behind what goes": {
			head + "metadata: {name: a}\nspec:\n  windows:\n  - {name: x, # the name\n     # when\n     start: a, # the start\n     timezone: UTC}\n",
			older + "metadata: {name: a, annotations: {" + carried(`"windows":[{"name":"x","start":"a","timezone":"UTC"}]`) + "}}\nspec:\n  windows:\n  - {\n     # when\n     start: a, # the start\n     }\n",
			`3: the comment "# the name" is removed with its field`,
		},
		"commas before the fields": {
			head + "metadata: {name: a}\nspec:\n  windows:\n  - { name: x # the name\n    , start: a # the start\n    , timezone: UTC # the zone\n    }\n",
			older + "metadata: {name: a, annotations: {" + carried(`"windows":[{"name":"x","start":"a","timezone":"UTC"}]`) + "}}\nspec:\n  windows:\n  - { start: a # the start\n    }\n",
			`3: the comment "# the zone" is removed with its field`,
		},
		"what comes below a comment": {
			head + "metadata: {\n  name: a # the name\n  }\nspec:\n  baselineReplicas: 3\n  pause: true\n",
			older + "metadata: {\n  name: a, # the name\n  annotations: {" + carried(`"baselineReplicas":3,"pause":true`) + "}\n  }\nspec:\n  pause: true\n", "",
		},
		"what comes below a comment behind a comma": {
			head + "metadata: {\n  name: a, # the name\n  }\nspec:\n  baselineReplicas: 3\n  pause: true\n",
			older + "metadata: {\n  name: a, # the name\n  annotations: {" + carried(`"baselineReplicas":3,"pause":true`) + "},\n  }\nspec:\n  pause: true\n", "",
		},
		"keys that are there twice": {
			head + "metadata: {name: a}\nspec:\n  baselineReplicas: 1\n  timezone: UTC\n  baselineReplicas: 2\n",
			older + "metadata: {name: a, annotations: {" + carried(`"baselineReplicas":2,"timezone":"UTC"`) + "}}\nspec:\n  timezone: UTC\n", "",
		},
	} {
		result, err := File(&manifest.File{Name: "f", Data: []byte(test.before)}, "v1alpha1")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(test.after, string(result.Data)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if said := fmt.Sprint(result.Notes); test.note != "" && !strings.Contains(said, test.note[strings.Index(test.note, " ")+1:]) || test.note == "" && strings.Contains(said, "is reformatted") {
			t.Errorf("%s: the notes are %s", name, said)
		}
	}
}

// Notes name the lines of the file, and what is lost of the meaning.
func TestNotes(t *testing.T) {
	content, err := os.ReadFile("../../config/samples/follow-the-sun.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := &manifest.File{Name: "f", Data: content}
	result, err := File(file, "v1alpha1")
	if err != nil || len(result.Notes) < 5 {
		t.Fatal(err, result)
	}
	lines := strings.Split(string(content), "\n")
	for _, note := range result.Notes {
		field, line := strings.Fields(note.Text)[0], lines[note.Line-1]
		if last := field[strings.LastIndex(field, ".")+1:]; strings.HasPrefix(field, "spec.") && !strings.Contains(line, last+":") {
			t.Errorf("line %d is %q: %s", note.Line, line, note.Text)
		}
	}
}

// Nothing that can be read makes the conversion fail or lie, however its text came about.
func TestAnyText(t *testing.T) {
	var samples []string
	for _, pattern := range []string{"*.yaml", "v1alpha1/*.yaml"} {
		found, _ := filepath.Glob(filepath.Join("../../config/samples", pattern))
		for _, sample := range found {
			content, err := os.ReadFile(sample)
			if err != nil {
				t.Fatal(err)
			}
			samples = append(samples, string(content))
		}
	}
	scraps := []string{"\n", "\r", " ", "  ", "\t", "- ", "{", "}", "[", "]", ", ", ": ", "# a\n", "'", `"`, "|\n", ">-\n", "&a ", "*a", "!!str ", "<<: ", "? ", "---\n", "...\n",
		"50%", "24:00", "null", "\uFEFF", "\u2028", "name: x\n", "    timezone: UTC\n", "  baselineReplicas: 3\n", "kyklos.io/v1alpha1", "é"}
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(samples).Draw(t, "sample")
		text = text[strings.Index(text, "---\n")+4:] // the scaler
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := min(len(text), from+rapid.SampledFrom([]int{0, 0, 1, 2, 12}).Draw(t, "less"))
			text = text[:from] + rapid.SampledFrom(append(scraps, "")).Draw(t, "more") + text[to:]
		}
		for _, version := range Versions() {
			changed += honest(t, []byte(text), version)
		}
	})
	if changed == 0 {
		t.Error("nothing was converted")
	}
}

// honest checks what becomes of a text, and returns how many of its documents changed.
func honest(t *rapid.T, text []byte, version string) (changed int) {
	result, err := File(&manifest.File{Name: "f", Data: text}, version)
	if err != nil {
		return 0
	}
	before, after := manifest.Documents(text), manifest.Documents(result.Data)
	if len(before) != len(after) {
		t.Fatalf("%d documents became %d: %q", len(before), len(after), text)
	}
	for i := range before {
		if bytes.Equal(before[i].Text, after[i].Text) {
			continue
		}
		changed++
		was, err := k8syaml.YAMLToJSON(before[i].Text)
		if err != nil {
			t.Fatal(err)
		}
		convert := map[string]func([]byte) ([]byte, error){"v1alpha1": conversion.ToV1alpha1, "v1beta1": conversion.ToV1beta1}[version]
		want, err := convert(was)
		if err != nil {
			t.Fatal(err)
		}
		if wanted, _ := fromJSON(want); !hasValue(after[i].Text, wanted) {
			t.Fatalf("%q became %q", before[i].Text, after[i].Text)
		}
	}
	return changed
}
