package conversion

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=timewindowscalers.kyklos.io,verbs=list

// definitionName is the CustomResourceDefinition of TimeWindowScalers.
const definitionName = "timewindowscalers.kyklos.io"

// errCannotStore is why an object is not stored as v1alpha1.
var errCannotStore = fmt.Errorf("this object cannot be stored in %s: its other annotations leave no room for %s, which preserves what %s cannot express; "+
	"store %s again, and make the annotations smaller (limit %d KiB)", v1alpha1.GroupVersion, Annotation, v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version, maxAnnotations>>10)

// storedVersions reads status.storedVersions of the CustomResourceDefinition: the versions in which objects may be stored.
type storedVersions func(ctx context.Context) ([]string, error)

// has reports whether objects may be stored in a version. It asks the API server, which is only needed for an object whose
// annotations are too large, and assumes the normal case if it cannot: only v1beta1 is stored.
func (read storedVersions) has(ctx context.Context, version string) bool {
	versions, err := read(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "Cannot read in which versions TimeWindowScalers are stored", "assumed", v1beta1.GroupVersion.Version)
		return false
	}
	return slices.Contains(versions, version)
}

// storedIn reads the versions with a client that does not cache. It lists, as the role allows no more.
func storedIn(live client.Reader) storedVersions {
	return func(ctx context.Context) ([]string, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
		if err := live.List(ctx, list, client.MatchingFields{"metadata.name": definitionName}); err != nil {
			return nil, fmt.Errorf("list the definition: %w", err)
		}
		if len(list.Items) == 0 {
			return nil, fmt.Errorf("the definition %s does not exist", definitionName)
		}
		versions, _, err := unstructured.NestedStringSlice(list.Items[0].Object, "status", "storedVersions")
		return versions, err
	}
}
