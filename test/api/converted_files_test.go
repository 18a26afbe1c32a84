package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kyklos.io/kyklos/cli/convert"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/test/harness"
)

// A file converted offline leads to the same stored object, in both directions. v1alpha1 refuses exactly what the
// conversion predicts.
func TestConvertedFiles(t *testing.T) {
	var samples []string
	for _, pattern := range []string{"*.yaml", "v1alpha1/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(harness.RootFor(t), "config", "samples", pattern))
		harness.Must(t, err)
		samples = append(samples, found...)
	}
	stored, refused := 0, 0
	for _, sample := range samples {
		content, err := os.ReadFile(sample)
		harness.Must(t, err)
		file := &manifest.File{Name: sample, Data: content}
		for _, version := range convert.Versions() {
			result, err := convert.File(file, version)
			harness.Must(t, err)
			if result.Converted == 0 {
				continue
			}
			before, after := newNamespace(t), newNamespace(t)
			was, is := readScaler(t, file), readScaler(t, &manifest.File{Name: sample, Data: result.Data})
			want := created(t, before, was)
			_, own := versionOf(is)
			got, err := in(own, after).Create(t.Context(), is, metav1.CreateOptions{})
			warned := strings.Contains(notes(result), "refused in new ones")
			if warned != apierrors.IsInvalid(err) || err != nil && !warned {
				t.Errorf("%s in %s: %v; the conversion says %s", sample, version, err, notes(result))
			}
			if err != nil {
				refused++
				continue
			}
			stored++
			got = get(t, "v1beta1", after, got.GetName())
			if diff := cmp.Diff(bare(want), bare(got)); diff != "" {
				t.Errorf("%s in %s (-original +converted)\n%s", sample, version, diff)
			}
		}
	}
	if stored < 5 || refused == 0 {
		t.Errorf("got %d stored and %d refused, want at least 5 and 1", stored, refused)
	}
}

// readScaler returns the one scaler of a file.
func readScaler(t *testing.T, file *manifest.File) *unstructured.Unstructured {
	t.Helper()
	objects, problems := manifest.Parse(file)
	for _, object := range objects {
		if source.IsScaler(object) {
			return object.Unstructured()
		}
	}
	t.Fatalf("%s: no scaler, %v", file.Name, problems)
	return nil
}

// created creates an object and returns it as v1beta1 shows it.
func created(t *testing.T, namespace string, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	_, version := versionOf(object)
	_, err := in(version, namespace).Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	return get(t, "v1beta1", namespace, object.GetName())
}

// bare returns what users write of a stored object.
func bare(object *unstructured.Unstructured) map[string]any {
	delete(spec(object)["targetRef"].(map[string]any), "namespace") // filled in on creation
	return map[string]any{"apiVersion": object.GetAPIVersion(), "name": object.GetName(), "annotations": object.GetAnnotations(), "spec": spec(object)}
}

func notes(result *convert.Result) string {
	var all []string
	for _, note := range result.Notes {
		all = append(all, note.Text)
	}
	return strings.Join(all, "\n")
}
