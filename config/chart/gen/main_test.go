package main

import (
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

// render executes a template with a kind of certificates, as Helm does.
func render(t rapid.TB, text, mode string) string {
	parsed, err := template.New("").Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	values := map[string]any{"Values": map[string]any{"certificates": map[string]any{"mode": mode}}}
	var out strings.Builder
	if err := parsed.Execute(&out, values); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(out.String(), "\n")
}

// A merged text shows each of the two it was made from, line by line, and shares what it can.
func TestMerge(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a:", "  b: 1", "- c", "d"}), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		// The first line is always the same: apiVersion.
		one := "v1\n" + strings.Join(lines.Draw(t, "one"), "\n") + "\n"
		other := "v1\n" + strings.Join(lines.Draw(t, "other"), "\n") + "\n"
		merged := merge(one, other, ifCertManager, ifSelfManaged)
		for mode, want := range map[string]string{"cert-manager": one, "self-managed": other} {
			if diff := cmp.Diff(want, render(t, merged, mode)); diff != "" {
				t.Fatalf("%s (-want +got):\n%s\nin\n%s", mode, diff, merged)
			}
		}
		if one == other && merged != one {
			t.Fatalf("conditions without a difference:\n%s", merged)
		}
	})
}

func object(t *testing.T, manifest string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := decode([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// What one installation alone has is written under its condition, the namespace follows the release, and
// text that looks like a template stays as it is.
func TestTemplates(t *testing.T) {
	const secret = `
apiVersion: v1
kind: Secret
metadata:
  labels: {}
  name: Only
  namespace: kyklos-system
stringData:
  text: a.kyklos-system.svc has {{ braces }}`
	got, err := (&installations{selfManaged: object(t, secret+"\n---\nkind: Namespace\nmetadata: {name: kyklos-system}")}).templates()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"secret-only.yaml": header + `{{- if eq .Values.certificates.mode "self-managed" }}
apiVersion: v1
kind: Secret
metadata:
  labels:
    {{- include "kyklos.labels" . | nindent 4 }}
  name: Only
  namespace: {{ .Release.Namespace | quote }}
stringData:
  text: a.{{ .Release.Namespace }}.svc has {{ "{{" }} braces }}
{{- end }}
`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A field that values decide about, and that the manifests no longer have a place for, is said.
func TestMissingPlace(t *testing.T) {
	manifest := "kind: Deployment\nmetadata: {name: m, labels: {}}\nspec: {template: {metadata: {labels: {}}, spec: {containers: [{name: other}]}}}"
	_, err := (&installations{certManager: object(t, manifest)}).templates()
	if want := "deployment-m.yaml: spec.template.spec.containers.manager.args.+: there is no containers"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
