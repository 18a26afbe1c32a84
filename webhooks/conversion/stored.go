package conversion

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	storageversion "k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=timewindowscalers.kyklos.io,verbs=list

// definitionName is the CustomResourceDefinition of TimeWindowScalers.
const definitionName = "timewindowscalers.kyklos.io"

// errCannotStore is why an object is not stored as v1alpha1.
var errCannotStore = fmt.Errorf("this object cannot be stored in %s: its other annotations leave no room for %s, which preserves what %s cannot express; "+
	"store %s again, and make the annotations smaller (limit %d KiB)", v1alpha1.GroupVersion, Annotation, v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version, maxAnnotations>>10)

// storedVersions reads in which versions objects may be stored.
type storedVersions func(ctx context.Context) ([]string, error)

// includeV1alpha1 reports whether objects may be stored as v1alpha1. It asks the API server, which is only needed for an
// object whose annotations are too large.
func (read storedVersions) includeV1alpha1(ctx context.Context) (bool, error) {
	versions, err := read(ctx)
	if err != nil {
		return false, fmt.Errorf("the annotations leave no room for %s, and it is not known in which versions objects are stored: %w", Annotation, err)
	}
	return slices.Contains(versions, v1alpha1.GroupVersion.Version), nil
}

// storedIn reads the versions from status.storedVersions of the definition, or where Kyklos may not read that, as in an
// installation for some namespaces, from discovery, which everybody may. live does not cache, and lists, as the role allows
// no more.
func storedIn(live client.Reader, apis discovery.ServerResourcesInterfaceWithContext) storedVersions {
	return func(ctx context.Context) ([]string, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
		err := live.List(ctx, list, client.MatchingFields{"metadata.name": definitionName})
		switch {
		case apierrors.IsForbidden(err):
			version, err := storageVersion(ctx, apis)
			return []string{version}, err
		case err != nil:
			return nil, fmt.Errorf("list the definition: %w", err)
		case len(list.Items) == 0:
			return nil, fmt.Errorf("the definition %s does not exist", definitionName)
		}
		versions, _, err := unstructured.NestedStringSlice(list.Items[0].Object, "status", "storedVersions")
		return versions, err
	}
}

// storageVersion recognizes the version in which the API server stores what is written now by its hash in discovery. An
// unknown hash is an error, so that nothing is lost if the API server should compute it in another way one day.
func storageVersion(ctx context.Context, apis discovery.ServerResourcesInterfaceWithContext) (string, error) {
	found, err := apis.ServerResourcesForGroupVersionWithContext(ctx, v1alpha1.GroupVersion.String())
	if err != nil {
		return "", fmt.Errorf("discover %s: %w", v1alpha1.GroupVersion, err)
	}
	for _, resource := range found.APIResources {
		for _, version := range []string{v1beta1.GroupVersion.Version, v1alpha1.GroupVersion.Version} {
			if resource.Kind == v1beta1.Kind && resource.StorageVersionHash == storageversion.StorageVersionHash(v1beta1.GroupVersion.Group, version, v1beta1.Kind) {
				return version, nil
			}
		}
	}
	return "", fmt.Errorf("discovery of %s does not show it", v1alpha1.GroupVersion)
}
