package install

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kyklos.io/kyklos/test/harness"
)

// The chart installs the same objects as kustomize for any release and namespace, except the namespace itself, which
// Helm creates, and Helm's own labels.
func TestChartEqualsKustomize(t *testing.T) {
	for _, c := range []struct{ folders, values string }{
		{"default", "replicas=2"}, // the default
		{"overlays/self-managed", "certificates.mode=self-managed"},
		{"default prometheus", "monitoring.enabled=true"},
		{"overlays/self-managed overlays/self-managed-prometheus", "certificates.mode=self-managed,monitoring.enabled=true"},
		{"overlays/namespaced overlays/namespaced/cluster", "namespaces={shop}"},
		{"overlays/without-workspaces", "workspaces.enabled=false"},
		{"overlays/self-managed-without-workspaces", "certificates.mode=self-managed,workspaces.enabled=false"},
		{"overlays/workspace-namespaces", "workspaces.namespaces={team}"},
	} {
		manifests := ""
		for _, folder := range strings.Fields(c.folders) {
			manifests += kustomize(t, folder) + "\n---\n"
		}
		for _, place := range []struct{ release, namespace string }{
			{"kyklos", "kyklos-system"}, {"clockwork-7", "elsewhere"}, {"kyklos", "123"},
		} {
			t.Run(c.folders+" as "+place.release+" in "+place.namespace, func(t *testing.T) {
				want := map[string]*unstructured.Unstructured{}
				for _, object := range objects(t, manifests) {
					moved(object.Object, place.namespace)
					want[key(object)] = object
				}
				delete(want, "Namespace /"+place.namespace)
				compare(t, template(t, place.release, place.namespace, "--set", c.values), want, place.release)
			})
		}
	}
}

// moved replaces every mention of kyklos-system in value.
func moved(value any, namespace string) any {
	switch value := value.(type) {
	case string:
		return strings.ReplaceAll(value, "kyklos-system", namespace)
	case []any:
		for i := range value {
			value[i] = moved(value[i], namespace)
		}
	case map[string]any:
		for field := range value {
			value[field] = moved(value[field], namespace)
		}
	}
	return value
}

// Each served namespace has the Roles of the namespaced installation, and each with Workspaces those for Workspaces.
func TestServedNamespaces(t *testing.T) {
	const one, both = "shop", "shop team-a"
	for set, want := range map[string]struct{ scaling, workspaces string }{
		"namespaces={shop,team-a}":                                {both, both},
		"namespaces={shop,team-a},workspaces.namespaces={shop}":   {both, one},
		"namespaces={shop,team-a},workspaces.enabled=false":       {both, ""},
		"workspaces.namespaces={shop,team-a}":                     {"", both},
		"workspaces.enabled=false":                                {"", ""},
		"certificates.mode=self-managed,workspaces.enabled=false": {"", ""},
	} {
		got := template(t, "kyklos", "kyklos-system", "--set", set)
		for _, kind := range []string{"Role", "RoleBinding"} {
			for name, namespaces := range map[string]string{"kyklos-manager-served": want.scaling, "kyklos-manager-served-workspaces": want.workspaces} {
				var found []string
				var shop *unstructured.Unstructured
				for _, namespace := range strings.Fields(both) {
					object := got[kind+" "+namespace+"/"+name]
					if object == nil {
						continue
					}
					found = append(found, namespace)
					if object.SetNamespace("shop"); shop == nil {
						shop = object
					}
					if diff := cmp.Diff(shop.Object, object.Object); diff != "" {
						t.Errorf("%s: %s %s (-shop +team-a):\n%s", set, kind, name, diff)
					}
				}
				if strings.Join(found, " ") != namespaces {
					t.Errorf("%s: %s %s: got the namespaces %v, want %s", set, kind, name, found, namespaces)
				}
			}
		}
	}
}

// Without Workspaces the manager may read no Secret but its CA, and create nothing but reviews, events and its own objects.
func TestNoWorkspacesNoSecrets(t *testing.T) {
	for _, set := range []string{"workspaces.enabled=false", "certificates.mode=self-managed,workspaces.enabled=false", "namespaces={shop},workspaces.enabled=false"} {
		for name, object := range template(t, "kyklos", "kyklos-system", "--set", set) {
			rules, _, err := unstructured.NestedSlice(object.Object, "rules")
			if err != nil || !strings.HasSuffix(object.GetKind(), "Role") || !strings.HasPrefix(object.GetName(), "kyklos-manager") {
				continue
			}
			for _, rule := range rules {
				r := rule.(map[string]any)
				for _, resource := range r["resources"].([]any) {
					own := object.GetKind() == "Role" && object.GetNamespace() == "kyklos-system"
					switch resource {
					case "pods", "jobs", "persistentvolumeclaims", "workspaces":
						t.Errorf("%s: %s allows %v", set, name, r)
					case "secrets":
						if !own {
							t.Errorf("%s: %s allows %v", set, name, r)
						}
					}
				}
			}
		}
	}
}

func compare(t *testing.T, got, want map[string]*unstructured.Unstructured, release string) {
	t.Helper()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("the chart has other objects (-kustomize +chart):\n%s", diff)
	}
	for name, object := range got {
		if want[name] == nil {
			continue
		}
		forgetHelm(t, object, release)
		if diff := cmp.Diff(want[name].Object, object.Object); diff != "" {
			t.Errorf("%s differs (-kustomize +chart):\n%s", name, diff)
		}
	}
}

// forgetHelm removes Helm's own labels, which must exist.
func forgetHelm(t *testing.T, object *unstructured.Unstructured, release string) {
	t.Helper()
	labels := object.GetLabels()
	for label, want := range map[string]string{
		"app.kubernetes.io/instance": release, "app.kubernetes.io/managed-by": "Helm",
		"app.kubernetes.io/version": "0.1.0", "helm.sh/chart": "kyklos-0.1.0",
	} {
		if labels[label] != want {
			t.Errorf("%s: the label %s is %q, want %q", key(object), label, labels[label], want)
		}
		delete(labels, label)
	}
	object.SetLabels(labels)
	annotations := object.GetAnnotations()
	if keep := annotations["helm.sh/resource-policy"] == "keep"; keep != (object.GetKind() == "CustomResourceDefinition") {
		t.Errorf("%s: kept is %t", key(object), keep)
	}
	delete(annotations, "helm.sh/resource-policy")
	if len(annotations) > 0 {
		object.SetAnnotations(annotations)
	}
}

// What a value leaves out is left out completely.
func TestLeftOut(t *testing.T) {
	all := template(t, "kyklos", "kyklos-system")
	for values, gone := range map[string][]string{
		"crds.install=false":     {"CustomResourceDefinition /timewindowscalers.kyklos.io", "CustomResourceDefinition /workspaces.kyklos.io"},
		"priorityClassName=mine": {"PriorityClass /kyklos-manager"},
		"priorityClassName=":     {"PriorityClass /kyklos-manager"},
		"crds.keep=false":        nil,
	} {
		want := maps.Clone(all)
		for _, name := range gone {
			if want[name] == nil {
				t.Errorf("there is no %s to leave out", name)
			}
			delete(want, name)
		}
		got := template(t, "kyklos", "kyklos-system", "--set", values)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", values, diff)
		}
		for name, object := range got {
			if _, kept := object.GetAnnotations()["helm.sh/resource-policy"]; kept && values == "crds.keep=false" {
				t.Errorf("%s keeps %s", values, name)
			}
		}
	}
}

// helm lint reports nothing, and the package has only the chart.
func TestLintAndPackage(t *testing.T) {
	chart := filepath.Join(harness.RootFor(t), "config", "chart")
	if output, err := helm(t, os.DevNull, "lint", "--strict", "--quiet", chart); err != nil || strings.Contains(output, "WARNING") {
		t.Error(output, err)
	}
	folder := t.TempDir()
	if _, err := helm(t, os.DevNull, "package", chart, "--destination", folder); err != nil {
		t.Fatal(err)
	}
	for name := range entries(t, filepath.Join(folder, "kyklos-0.1.0.tgz")) {
		if strings.HasPrefix(name, "kyklos/gen/") || strings.HasSuffix(name, ".go") {
			t.Errorf("the package holds %s", name)
		}
	}
}
