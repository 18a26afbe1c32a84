package storagemigration

import (
	"bytes"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// An entry of metadata.managedFields names the version in which its fields were written. Once the definition lacks that
// version, the API server refuses every server-side apply of the object. So entries of versions that are not served are
// moved to one that is. Those of served versions stay: their writers may come back, and the API server converts.

// unserved are the definition's versions that clients can no longer use.
func unserved(crd *definition) (names []string) {
	for _, v := range crd.Spec.Versions {
		if !v.Served {
			names = append(names, v.Name)
		}
	}
	return names
}

func serves(crd *definition, apiVersion string) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Served && apiVersion == schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name}.String()
	})
}

// servedEntries returns entries with those of unserved versions moved to version, nil if there are none. The owner of a
// field stays its owner: two versions of one definition call most fields the same, and an owned field that a version does
// not have has no effect.
func servedEntries(crd *definition, version string, entries []metav1.ManagedFieldsEntry) (moved []metav1.ManagedFieldsEntry) {
	if !slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return !serves(crd, e.APIVersion) }) {
		return nil
	}
	for _, entry := range entries {
		if !serves(crd, entry.APIVersion) {
			entry.APIVersion = schema.GroupVersion{Group: crd.Spec.Group, Version: version}.String()
		}
		i := slices.IndexFunc(moved, func(other metav1.ManagedFieldsEntry) bool { return sameOwner(entry, other) })
		if i < 0 {
			moved = append(moved, entry)
		} else {
			merge(&moved[i], entry)
		}
	}
	return moved
}

// sameOwner reports whether the API server takes two entries for one, and would drop the first.
func sameOwner(a, b metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource &&
		(a.APIVersion == b.APIVersion || a.Operation == metav1.ManagedFieldsOperationApply)
}

// merge adds the fields of another entry, and takes over the later time. Fields that cannot be read are left out: the API
// server cannot read them either.
func merge(entry *metav1.ManagedFieldsEntry, other metav1.ManagedFieldsEntry) {
	all := fieldsOf(entry).Union(fieldsOf(&other))
	if raw, err := all.ToJSON(); err == nil {
		entry.FieldsV1 = metav1.NewFieldsV1(string(raw))
	}
	if entry.Time.Before(other.Time) {
		entry.Time = other.Time
	}
}

func fieldsOf(entry *metav1.ManagedFieldsEntry) *fieldpath.Set {
	var fields fieldpath.Set
	if entry.FieldsV1 == nil || fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return fieldpath.NewSet()
	}
	return &fields
}
