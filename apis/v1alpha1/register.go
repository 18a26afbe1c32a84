package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion names this package's API group and version.
var GroupVersion = schema.GroupVersion{Group: "kyklos.io", Version: "v1alpha1"}

// Kind is the kind whose schema this package holds.
const Kind = "TimeWindowScaler"

// GroupKind identifies the kind in API errors and REST mappings, whatever the version.
var GroupKind = schema.GroupKind{Group: GroupVersion.Group, Kind: Kind}

// AddToScheme registers the package's types, so that clients can read and write them.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &TimeWindowScaler{}, &TimeWindowScalerList{}, &Workspace{}, &WorkspaceList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
