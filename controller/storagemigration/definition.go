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

// goal is what one migration is for. Each change of the definition's spec makes a new one: between two passes the
// storage version may have moved away and back.
type goal struct {
	uid        types.UID
	generation int64
	// version is the storage version.
	version string
}

func goalOf(crd *definition) goal {
	return goal{uid: crd.UID, generation: crd.Generation, version: storageVersion(crd).Name}
}

// storageVersion returns the version with storage: true; the API server ensures that there is exactly one.
func storageVersion(crd *definition) apiextensionsv1.CustomResourceDefinitionVersion {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if i < 0 {
		return apiextensionsv1.CustomResourceDefinitionVersion{}
	}
	return crd.Spec.Versions[i]
}

// endpoint is where objects are read and written: in the storage version, so that migrated objects need no
// conversion, or else in another served version. ok is false while none is served.
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

// migrationFailed is kube-controller-manager's reason for a failed migration.
const migrationFailed = "MigrationFailed"

// needed reports whether objects may be stored in another version than the storage version.
func needed(crd *definition) bool { return !onlyStorageVersion(crd) || untrustedIndex(crd) >= 0 }

// onlyStorageVersion reports whether storedVersions holds the storage version alone.
func onlyStorageVersion(crd *definition) bool {
	return slices.Equal(crd.Status.StoredVersions, []string{storageVersion(crd).Name})
}

// untrustedIndex is the index of a condition because of which storedVersions cannot be trusted; negative for none.
// kube-controller-manager 1.37 removes old versions from the list after a failed migration, too. From the second
// migration on it removes them at the start, since its apply no longer contains the list it applied before.
func untrustedIndex(crd *definition) int {
	return slices.IndexFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.StorageMigrating && (c.Status == apiextensionsv1.ConditionTrue || c.Reason == migrationFailed)
	})
}

// runningSince is the start of the migration that is running according to the definition; zero for none.
func runningSince(crd *definition) time.Time {
	if i := untrustedIndex(crd); i >= 0 && crd.Status.Conditions[i].Status == apiextensionsv1.ConditionTrue {
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

// strip removes from a definition what this package does not use; schemas are large.
func strip(obj any) (any, error) {
	crd, ok := obj.(*definition)
	if !ok {
		return obj, nil
	}
	stripped := &definition{
		// Events refer to it by this kind, without a scheme.
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
