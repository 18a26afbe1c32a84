package policy

import (
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// What is written here about Kyklos's own kinds is what their definitions say.
func TestOwnKinds(t *testing.T) {
	entries, err := crd.Bases.ReadDir("bases")
	if err != nil {
		t.Fatal(err)
	}
	own := knownKinds(nil)
	if len(entries) != len(own) {
		t.Errorf("%d definitions, %d kinds", len(entries), len(own))
	}
	for _, entry := range entries {
		data, err := crd.Bases.ReadFile(path.Join("bases", entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		objects, _ := manifest.Parse(&manifest.File{Name: entry.Name(), Data: data})
		kind, _, _ := unstructured.NestedString(objects[0].Object, "spec", "names", "kind")
		if err := unstructured.SetNestedField(objects[0].Object, "other.io", "spec", "group"); err != nil {
			t.Fatal(err)
		}
		defined := knownKinds(objects)[schema.GroupKind{Group: "other.io", Kind: kind}]
		known := own[schema.GroupKind{Group: "kyklos.io", Kind: kind}]
		known.converted = false // the manifests of an installation say so, and those who rewrite a group
		if diff := cmp.Diff(defined, known, cmp.AllowUnexported(definition{})); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

func TestResources(t *testing.T) {
	own := knownKinds(nil)
	for kind, want := range map[string]struct {
		resource   string
		namespaced bool
		sure       bool
	}{
		"/v1 ConfigMap":                          {"configmaps", true, true},
		"/v1 Namespace":                          {"namespaces", false, true},
		"/v1 Endpoints":                          {"endpoints", true, true},
		"apps/v1 Deployment":                     {"deployments", true, true},
		"networking.k8s.io/v1 NetworkPolicy":     {"networkpolicies", true, true},
		"networking.k8s.io/v1 IngressClass":      {"ingressclasses", false, true},
		"storage.k8s.io/v1 StorageClass":         {"storageclasses", false, true},
		"kyklos.io/v1beta1 TimeWindowScaler":     {"timewindowscalers", true, true},
		"keda.sh/v1alpha1 ScaledObject":          {"scaledobjects", true, false},
		"rbac.authorization.k8s.io/v1 Role":      {"roles", true, true},
		"autoscaling/v2 HorizontalPodAutoscaler": {"horizontalpodautoscalers", true, true},
	} {
		version, name, _ := cutKind(kind)
		gv, err := schema.ParseGroupVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		gvr, namespaced, sure := own.resource(gv.WithKind(name))
		if gvr.Resource != want.resource || namespaced != want.namespaced || sure != want.sure || gvr.GroupVersion() != gv {
			t.Errorf("%s: %v %t %t, want %v", kind, gvr, namespaced, sure, want)
		}
	}
	for group, kinds := range clusterScoped { // no name is misspelt
		for _, kind := range kinds {
			found := kind == "*"
			for _, gv := range scheme.Scheme.PrioritizedVersionsForGroup(group) {
				found = found || scheme.Scheme.Recognizes(gv.WithKind(kind))
			}
			if !found {
				t.Errorf("there is no %s in %q", kind, group)
			}
		}
	}
}

func cutKind(text string) (version, kind string, ok bool) {
	for i := range text {
		if text[i] == ' ' {
			version, kind = text[:i], text[i+1:]
			if version[0] == '/' {
				version = version[1:]
			}
			return version, kind, true
		}
	}
	return "", "", false
}

func TestSubject(t *testing.T) {
	for expression, want := range map[string]string{
		"object.spec.timezone == 'UTC'":                             "spec.timezone",
		"has(object.spec.windows) && object.spec.windows.all(w, w)": "spec.windows",
		"object.spec.timezone == oldObject.spec.timezone":           "spec.timezone",
		"object.metadata.name == object.spec.targetRef.name":        "",
		"object.spec.a == object.spec.b":                            "spec",
		"object.?spec.?pause.orValue(false)":                        "spec.pause",
		"myobject.spec.timezone == 1":                               "",
		"true":                                                      "",
	} {
		if got := subject(expression); got != want {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
