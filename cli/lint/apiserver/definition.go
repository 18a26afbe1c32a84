package apiserver

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/internal/apischema"
)

// definition is a CustomResourceDefinition, ready for validation.
type definition struct {
	kind     schema.GroupKind
	versions map[string]*version // served ones
}

// version is a served version of a definition.
type version struct {
	kind       schema.GroupVersionKind
	namespaced bool
	hasStatus  bool // status is a subresource
	*apischema.Schema
	// deprecation is the warning sent with each response, "" if the version is not deprecated.
	deprecation string
}

func newDefinition(object *manifest.Object) (*definition, error) {
	if v := object.GroupVersionKind().Version; v != "v1" {
		return nil, fmt.Errorf("apiextensions.k8s.io/%s is no longer served by Kubernetes; use apiextensions.k8s.io/v1", v)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &crd); err != nil {
		return nil, err
	}
	d := &definition{
		kind:     schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind},
		versions: map[string]*version{},
	}
	for i := range crd.Spec.Versions {
		served := &crd.Spec.Versions[i]
		if !served.Served {
			continue
		}
		v, err := newVersion(served)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", served.Name, err)
		}
		v.kind = d.kind.WithVersion(served.Name)
		v.namespaced = crd.Spec.Scope == apiextensionsv1.NamespaceScoped
		v.deprecation = deprecation(served, &crd.Spec)
		d.versions[served.Name] = v
	}
	return d, nil
}

func newVersion(served *apiextensionsv1.CustomResourceDefinitionVersion) (*version, error) {
	schema, err := apischema.New(served)
	if err != nil {
		return nil, err
	}
	return &version{Schema: schema, hasStatus: served.Subresources != nil && served.Subresources.Status != nil}, nil
}

// deprecation is the warning in the definition, or by default one that recommends the newest version.
func deprecation(v *apiextensionsv1.CustomResourceDefinitionVersion, spec *apiextensionsv1.CustomResourceDefinitionSpec) string {
	if !v.Deprecated {
		return ""
	}
	if v.DeprecationWarning != nil {
		return *v.DeprecationWarning
	}
	text := fmt.Sprintf("%s/%s %s is deprecated", spec.Group, v.Name, spec.Names.Kind)
	var better []string
	for _, other := range spec.Versions {
		if other.Served && !other.Deprecated && apiversion.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 {
			better = append(better, other.Name)
		}
	}
	if len(better) == 0 {
		return text
	}
	newest := slices.MaxFunc(better, apiversion.CompareKubeAwareVersionStrings)
	return fmt.Sprintf("%s; use %s/%s %s", text, spec.Group, newest, spec.Names.Kind)
}
