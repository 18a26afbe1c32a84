package convert

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"kyklos.io/kyklos/cli/manifest"
)

// What cannot be read, or would lose something, is an error that names its line; what does not speak of Kyklos is not even read.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n---\nkyklos.io: {\n":                                     "f:",
		"# kyklos.io\n{{ if .Values.a }}\n":                             "helm template",
		"---\n" + fmt.Sprintf(tooMuch, strings.Repeat("x", 256<<10-40)): "f:2: TimeWindowScaler full cannot be converted: what v1alpha1 cannot express has to be kept in an annotation",
		"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: a}\nspec:\n  windows: [{name: yes}]\n": "f:1: TimeWindowScaler a cannot be converted, because its spec is invalid (json: cannot unmarshal bool into",
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

const tooMuch = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata:
  name: full
  annotations: {big: %s}
spec: {baselineReplicas: 1}
`
