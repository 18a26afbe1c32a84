package docs

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
	"text/template"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/webhooks/admission"
)

// Admission has no findings for the Workspaces, with the Secrets of the same file, and those that name a store are
// valid.
func TestWorkspaceSamplesAreWithoutFault(t *testing.T) {
	for _, s := range append(readSamples(t, "workspaces/*.yaml"), local(t)) {
		secrets, workspaces := map[string]bool{}, 0
		for _, document := range s.documents {
			switch object := decode(t, document).(type) {
			case *corev1.Secret:
				secrets[object.Name] = true
				tokens := func(context.Context, string, string) (string, error) { return "", nil }
				_, err := connect.Open(bytesOf(object.StringData), connect.Options{Endpoints: endpoints.Local, Tokens: tokens})
				if err == nil {
					_, err = connect.Recipients(bytesOf(object.StringData))
				}
				if err != nil && len(object.StringData) > 1 {
					t.Errorf("%s: %s is not a valid store: %v", s.name, object.Name, err)
				}
			case *v1alpha1.Workspace:
				workspaces++
				archive := object.Spec.Archive
				facts := admission.WorkspaceFacts{StoreMissing: archive != nil && !secrets[archive.StoreRef.Name]}
				if warned := admission.CheckWorkspace(object, nil, facts); len(warned) > 0 {
					t.Errorf("%s: %v", s.name, warned)
				}
			}
		}
		if workspaces != 1 {
			t.Errorf("%s has %d Workspaces", s.name, workspaces)
		}
	}
}

// local is the sample of make run with its store.
func local(t *testing.T) sample {
	t.Helper()
	secret, err := template.ParseFiles(filepath.Join(samplesDir, "workspaces", "local", "archive.yaml.tmpl"))
	harness.Must(t, err)
	var content bytes.Buffer
	if err := secret.Execute(&content, harness.ObjectStore{
		Endpoint: "http://127.0.0.1:1", Bucket: "homes", AccessKeyID: "a", SecretAccessKey: "b",
	}); err != nil {
		t.Fatal(err)
	}
	mia := readText(t, "config/samples/workspaces/local/mia.yaml")
	return sample{name: "local", documents: append(split(t, content.Bytes()), split(t, []byte(mia))...)}
}

func bytesOf(text map[string]string) map[string][]byte {
	content := map[string][]byte{}
	for key, value := range text {
		content[key] = []byte(value)
	}
	return content
}
