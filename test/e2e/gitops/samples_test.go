package gitops

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const applications = "config/argocd/applications"

// Argo CD accepts the samples, and the project allows exactly the kinds of Kyklos. Each wave has what the next one
// needs.
func (w *scenario) samples() {
	w.Kubectl("", "apply", "--dry-run=server", "--validate=strict", "-f", applications)
	rendered, _ := w.Kubectl("", "kustomize", "config/argocd/kyklos")
	waves := map[string][]string{}
	var needed []string
	for _, object := range w.objects(rendered) {
		wave := object.GetAnnotations()["argocd.argoproj.io/sync-wave"]
		waves[wave] = append(waves[wave], object.GetKind())
		if kind := object.GroupVersionKind().GroupKind(); object.GetNamespace() == "" && !slices.Contains(needed, kind.String()) {
			mapping, err := w.Client.RESTMapper().RESTMapping(kind)
			w.Must(err)
			if mapping.Scope.Name() == meta.RESTScopeNameRoot {
				needed = append(needed, kind.String())
			}
		}
	}
	for wave, kinds := range waves {
		slices.Sort(kinds)
		waves[wave] = slices.Compact(kinds)
	}
	delete(waves, "") // the manager, what it may, and what calls it
	same(w, waves, map[string][]string{"-2": {"CustomResourceDefinition", "Namespace"}, "-1": {"Certificate", "Issuer"}})
	content, err := os.ReadFile(applications + "/project.yaml")
	w.Must(err)
	var allowed []string
	list, _, _ := unstructured.NestedSlice(w.objects(string(content))[0].Object, "spec", "clusterResourceWhitelist")
	for _, item := range list {
		item := item.(map[string]any)
		allowed = append(allowed, strings.TrimSuffix(item["kind"].(string)+"."+item["group"].(string), "."))
	}
	slices.Sort(needed)
	slices.Sort(allowed)
	same(w, allowed, needed)
}

// objects reads a stream of YAML documents.
func (w *scenario) objects(manifests string) []*unstructured.Unstructured {
	w.Helper()
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		w.Must(err)
		objects = append(objects, object)
	}
}
