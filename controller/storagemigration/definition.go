package storagemigration

import (
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

type definition = apiextensionsv1.CustomResourceDefinition

// goal is what one migration is for. Each change of the definition's spec makes another one: between
// two looks the storage version may have moved away and back.
type goal struct {
	uid        types.UID
	generation int64
	// version is the storage version.
	version string
}

func goalOf(crd *definition) goal {
	return goal{uid: crd.UID, generation: crd.Generation, version: storageVersion(crd).Name}
}

// storageVersion returns the one version with storage: true, which the API server sees to.
func storageVersion(crd *definition) apiextensionsv1.CustomResourceDefinitionVersion {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if i < 0 {
		return apiextensionsv1.CustomResourceDefinitionVersion{}
	}
	return crd.Spec.Versions[i]
}

// endpoint is where objects are read and written: in the storage version, so that what is migrated
// needs no conversion, or in another served one. ok is false while none is served.
func endpoint(crd *definition) (resource schema.GroupVersionResource, subresources []string, ok bool) {
	at := storageVersion(crd)
	if !at.Served {
		i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served })
		if i < 0 {
			return schema.GroupVersionResource{}, nil, false
		}
		at = crd.Spec.Versions[i]
	}
	if at.Subresources != nil && at.Subresources.Status != nil {
		subresources = []string{"status"}
	}
	return schema.GroupVersionResource{Group: crd.Spec.Group, Version: at.Name, Resource: crd.Spec.Names.Plural}, subresources, true
}

// migrationFailed is the reason by which kube-controller-manager says that its migration failed.
const migrationFailed = "MigrationFailed"

// needed reports whether objects may be stored in another version than the storage version.
func needed(crd *definition) bool { return !settledByName(crd) || doubtIndex(crd) >= 0 }

// settledByName reports whether storedVersions holds the storage version alone.
func settledByName(crd *definition) bool {
	return slices.Equal(crd.Status.StoredVersions, []string{storageVersion(crd).Name})
}

// doubtIndex is where a condition says that storedVersions cannot be believed; below 0, nowhere.
// kube-controller-manager 1.37 takes old versions off the list after a migration that failed, too;
// and from the second migration on it does so at the start, since what it applies no longer holds the
// list that it has applied before.
func doubtIndex(crd *definition) int {
	return slices.IndexFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.StorageMigrating && (c.Status == apiextensionsv1.ConditionTrue || c.Reason == migrationFailed)
	})
}

// runningSince is when a migration began that the definition's conditions call running; zero for none.
func runningSince(crd *definition) time.Time {
	if i := doubtIndex(crd); i >= 0 && crd.Status.Conditions[i].Status == apiextensionsv1.ConditionTrue {
		return crd.Status.Conditions[i].LastTransitionTime.Time
	}
	return time.Time{}
}

// established reports whether the API server serves the definition's objects.
func established(crd *definition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// strip keeps of a definition what this package looks at; schemas are large.
func strip(obj any) (any, error) {
	crd, ok := obj.(*definition)
	if !ok {
		return obj, nil
	}
	stripped := &definition{
		// The kind lets events refer to it without a scheme.
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name: crd.Name, UID: crd.UID, ResourceVersion: crd.ResourceVersion, Generation: crd.Generation,
			DeletionTimestamp: crd.DeletionTimestamp,
		},
		Spec:   apiextensionsv1.CustomResourceDefinitionSpec{Group: crd.Spec.Group, Names: crd.Spec.Names},
		Status: crd.Status,
	}
	for _, v := range crd.Spec.Versions {
		stripped.Spec.Versions = append(stripped.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v.Name, Served: v.Served, Storage: v.Storage, Subresources: v.Subresources,
		})
	}
	return stripped, nil
}
