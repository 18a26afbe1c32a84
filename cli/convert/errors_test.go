package convert

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/manifest"
)

// What cannot be read, or would lose something, is an error that names its line; what does not speak of Kyklos is not even read.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n---\nkyklos.io: {\n":                                     "f:",
		"# kyklos.io\n{{ if .Values.a }}\n":                             "helm template",
		"---\n" + fmt.Sprintf(tooMuch, strings.Repeat("x", 256<<10-40)): "f:2: TimeWindowScaler full cannot be converted: what v1alpha1 cannot express has to be kept in an annotation",
		"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: a}\nspec:\n  windows: [{name: yes}]\n":                    "f:5: TimeWindowScaler a cannot be converted: spec.windows[0].name: must be a string, not true or false; kyklos lint shows more details",
		"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: a}\nspec:\n  pause: false\n  windows:\n    days: [Mon]\n": "f:6: TimeWindowScaler a cannot be converted: spec.windows: must be a list of objects, not an object; kyklos lint shows more details",
		"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: a}\nspec: []\n":                                           "f:4: TimeWindowScaler a cannot be converted: spec: must be an object, not a list; kyklos lint shows more details",
	} {
		if _, err := File(&manifest.File{Name: "f", Data: []byte(text)}, "v1alpha1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v; want %s", text, err, want)
		}
	}
	template := []byte("{{ if .Values.a }}\na: [\n{{ end }}\n")
	if result, err := File(&manifest.File{Name: "f", Data: template}, "v1beta1"); err != nil || !bytes.Equal(result.Data, template) {
		t.Errorf("a template: %v, %v", result, err)
	}
}

// What looks like a TimeWindowScaler of no version is left as it is, and a note says so.
func TestUnservedVersion(t *testing.T) {
	text := "apiVersion: kyklos.io/v1\nkind: TimeWindowScaler\nmetadata: {name: a}\n---\napiVersion: kyklos.io/v1alpha1\nkind: timewindowscalers\n"
	result, err := File(&manifest.File{Name: "f", Data: []byte(text)}, "v1beta1")
	if err != nil || string(result.Data) != text {
		t.Fatal(err, result)
	}
	want := []Note{{1, "not converted: kyklos.io has no version v1: use kyklos.io/v1beta1"}, {6, "not converted: kyklos.io has no kind timewindowscalers: use TimeWindowScaler"}}
	if diff := cmp.Diff(want, result.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

const tooMuch = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata:
  name: full
  annotations: {big: %s}
spec: {baselineReplicas: 1}
`
