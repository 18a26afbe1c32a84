package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/cli/manifest"
)

const scaler = `# a comment
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata:
  name: web
  labels:
    app.kubernetes.io/name: "web"
spec:
  timezone: Asia/Kolkata
  windows:
  - days: [Mon, Tue]
    start: "09:00"
  - days: &weekend
    - Sat
    - Sun
    start: '10:00'
  - days: *weekend
    replicas: 010
`

// Each path leads to the text that sets it, or to the nearest text.
func TestPositions(t *testing.T) {
	objects, _ := parse(t, scaler)
	for path, want := range map[string]string{
		"spec.timezone":                           "9:13 Asia/Kolkata",
		"spec.windows[0].start":                   `12:12 "09:00"`,
		"spec.windows[1].start":                   `16:12 '10:00'`,
		"spec.windows[0].days":                    "11:5 days",
		"spec.windows[1].days":                    "13:5 days",
		"spec.windows[1].days[1]":                 "15:7 Sun",
		"spec.windows[2].days[0]":                 "14:7 Sat",
		"spec.windows[2].replicas":                "18:15 010",
		"metadata.labels[app.kubernetes.io/name]": `7:29 "web"`,
		"metadata.labels":                         "6:3 labels",
		"spec.windows[0].end":                     "11:5 d?",
		"spec.windows[7]":                         "10:3 windows?",
		"spec.targetRef.name":                     "8:1 spec?",
		"status.phase":                            "2:1 a?",
		"":                                        "2:1 a",
		"<nil>":                                   "2:1 a",
	} {
		at, ok := objects[0].Position(path)
		line := strings.Split(scaler, "\n")[at.Line-1]
		got := fmt.Sprintf("%d:%d %s", at.Line, at.Column, line[at.Column-1:at.Column-1+at.Length])
		if !ok {
			got += "?"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestPositionsOfKeys(t *testing.T) {
	objects, _ := parse(t, scaler)
	for path, want := range map[string]string{
		"spec.timezone":         "9:3",
		"spec.windows[0].start": "12:5",
		"spec.windows[1]":       "13:5",
		"spec.windows[0].end":   "11:5",
	} {
		at, _ := objects[0].KeyPosition(path)
		if got := fmt.Sprintf("%d:%d", at.Line, at.Column); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// In any document, whatever stands before it in the file, the position of a scalar is where its text is.
func TestPositionsPointAtTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var paths, values []string
		root := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "spec": tree(t, "spec", 3, &paths, &values)}
		text, err := yaml.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		before := strings.Repeat("# a line\n", rapid.IntRange(0, 3).Draw(t, "lines"))
		whole := before + "---\n" + string(text)
		objects, _ := manifest.Parse(&manifest.File{Name: "f", Data: []byte(whole)})
		if len(objects) != 1 {
			t.Fatalf("%d objects in\n%s", len(objects), text)
		}
		for i, path := range paths {
			at, ok := objects[0].Position(path)
			line := strings.Split(whole, "\n")[at.Line-1]
			if !ok || !strings.HasPrefix(line[at.Column-1:], values[i]) || at.Length != len(values[i]) {
				t.Fatalf("%s is at %+v, %v, where the text is %q; want %q", path, at, ok, line[at.Column-1:], values[i])
			}
		}
	})
}

// tree draws a value and notes the paths and texts of its scalars.
func tree(t *rapid.T, path string, depth int, paths, values *[]string) any {
	switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); {
	case kind == 0 || depth == 0:
		text := fmt.Sprintf("v%d", len(*values))
		*paths, *values = append(*paths, path), append(*values, text)
		return text
	case kind == 1:
		list := []any{}
		for i := range rapid.IntRange(1, 3).Draw(t, "items") {
			list = append(list, tree(t, fmt.Sprintf("%s[%d]", path, i), depth-1, paths, values))
		}
		return list
	default:
		mapping := map[string]any{}
		for i := range rapid.IntRange(1, 3).Draw(t, "keys") {
			key, step := fmt.Sprintf("k%d", i), fmt.Sprintf(".k%d", i)
			if rapid.Bool().Draw(t, "dotted") {
				key, step = fmt.Sprintf("a.b/k%d", i), fmt.Sprintf("[a.b/k%d]", i)
			}
			mapping[key] = tree(t, path+step, depth-1, paths, values)
		}
		return mapping
	}
}
