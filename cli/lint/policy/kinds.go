package policy

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// kinds are the known custom resources.
type kinds map[schema.GroupKind]definition

// definition is what is needed of a CustomResourceDefinition.
type definition struct {
	plural     string
	namespaced bool
	versions   []string // served ones
	// converted: versions are converted by a webhook.
	converted bool
}

// knownKinds returns the kinds of Kyklos and of the CustomResourceDefinitions in objects.
func knownKinds(objects []*manifest.Object) kinds {
	group := v1beta1.GroupVersion.Group
	known := kinds{
		{Group: group, Kind: "TimeWindowScaler"}: {
			"timewindowscalers", true, []string{v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version}, true,
		},
		{Group: group, Kind: "Workspace"}: {"workspaces", true, []string{v1alpha1.GroupVersion.Version}, false},
	}
	for _, object := range objects {
		if object.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}) {
			continue
		}
		text := func(path ...string) string {
			value, _, _ := unstructured.NestedString(object.Object, path...)
			return value
		}
		kind := schema.GroupKind{Group: text("spec", "group"), Kind: text("spec", "names", "kind")}
		if kind.Group == group {
			continue // converted without their webhook
		}
		one := definition{
			plural: text("spec", "names", "plural"), namespaced: text("spec", "scope") == "Namespaced",
			converted: text("spec", "conversion", "strategy") == "Webhook",
		}
		versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
		for _, v := range versions {
			if version, ok := v.(map[string]any); ok && version["served"] == true {
				one.versions = append(one.versions, fmt.Sprint(version["name"]))
			}
		}
		known[kind] = one
	}
	return known
}

// clusterScoped are the built-in kinds without namespaces.
var clusterScoped = map[string][]string{
	"":                             {"Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {"*"},
	"apiextensions.k8s.io":         {"*"},
	"apiregistration.k8s.io":       {"*"},
	"certificates.k8s.io":          {"*"},
	"flowcontrol.apiserver.k8s.io": {"*"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"node.k8s.io":                  {"*"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "ResourceSlice", "DeviceTaintRule"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}

// resource returns the resource of a kind, and whether it is namespaced. sure is false for custom resources without a
// known definition, which are assumed to be.
func (k kinds) resource(gvk schema.GroupVersionKind) (gvr schema.GroupVersionResource, namespaced, sure bool) {
	if known, ok := k[gvk.GroupKind()]; ok {
		return gvk.GroupVersion().WithResource(known.plural), known.namespaced, true
	}
	gvr, _ = meta.UnsafeGuessKindToResource(gvk)
	unscoped := clusterScoped[gvk.Group]
	return gvr, !slices.Contains(unscoped, "*") && !slices.Contains(unscoped, gvk.Kind), unscoped != nil || scheme.Scheme.Recognizes(gvk)
}

// EquivalentResourcesFor implements runtime.EquivalentResourceMapper; for built-in kinds it returns nothing.
func (k kinds) EquivalentResourcesFor(gvr schema.GroupVersionResource, _ string) (all []schema.GroupVersionResource) {
	for kind, known := range k {
		if kind.Group == gvr.Group && known.plural == gvr.Resource {
			for _, version := range known.versions {
				all = append(all, schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: known.plural})
			}
		}
	}
	return all
}

// KindFor implements runtime.EquivalentResourceMapper.
func (k kinds) KindFor(gvr schema.GroupVersionResource, _ string) schema.GroupVersionKind {
	for kind, known := range k {
		if kind.Group == gvr.Group && known.plural == gvr.Resource {
			return kind.WithVersion(gvr.Version)
		}
	}
	return schema.GroupVersionKind{}
}

// convert returns the object in another version of its kind.
func (k kinds) convert(object runtime.Object, to schema.GroupVersionKind) (runtime.Object, error) {
	custom, ok := object.(*unstructured.Unstructured)
	if !ok || custom.GroupVersionKind() == to {
		return object, nil
	}
	if !k[to.GroupKind()].converted {
		custom = custom.DeepCopy()
		custom.SetGroupVersionKind(to)
		return custom, nil
	}
	if to.Group != v1beta1.GroupVersion.Group {
		return nil, fmt.Errorf("%s can only be converted to %s by its webhook", custom.GroupVersionKind(), to.Version)
	}
	raw, err := json.Marshal(custom.Object)
	if err != nil {
		return nil, err
	}
	if to.Version == v1beta1.GroupVersion.Version {
		raw, err = conversion.ToV1beta1(raw)
	} else {
		raw, err = conversion.ToV1alpha1(raw)
	}
	if err != nil {
		return nil, err
	}
	converted := &unstructured.Unstructured{}
	return converted, converted.UnmarshalJSON(raw)
}

// typed returns an object of a built-in kind as its Go type, and any other unchanged.
func typed(content map[string]any) runtime.Object {
	plain := &unstructured.Unstructured{Object: content}
	object, err := scheme.Scheme.New(plain.GroupVersionKind())
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, object) != nil {
		return plain
	}
	object.GetObjectKind().SetGroupVersionKind(plain.GroupVersionKind())
	return object
}
