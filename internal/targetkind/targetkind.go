// Package targetkind tells whether the kind that a spec.targetRef names exists in the cluster and can
// be scaled, so that admission and the reconciler cannot disagree (A3, A6).
package targetkind

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Kind is a kind that can be a target: it is namespaced, and has the scale subresource or is DaemonSet
// or Workspace.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the kind's name in paths and roles, such as rollouts.
	Resource string
}

// GroupVersionResource is where requests for objects of the kind go.
func (k Kind) GroupVersionResource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.Resource)
}

// The kinds that every cluster has, and that the manager's own role allows.
var (
	Deployment  = Kind{appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments"}
	StatefulSet = Kind{appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"}
	DaemonSet   = Kind{appsv1.SchemeGroupVersion.WithKind("DaemonSet"), "daemonsets"}
)

// Workspace is Kyklos' own kind. The manager's role allows it too, and yet it is looked up as others
// are: a cluster may have been upgraded without its definition.
var Workspace = Kind{schema.GroupVersionKind{Group: v1beta1.GroupVersion.Group, Version: "v1alpha1", Kind: "Workspace"}, "workspaces"}

// SuspendKey is the key in a DaemonSet's template.spec.nodeSelector, with the value "true", by which
// Kyklos suspends it: no node has this label, so no node runs its pods (A6). It is public contract.
const SuspendKey = "kyklos.io/suspended"

// BuiltIn returns the kind that ref names if that is one of the above. No request is needed for it.
func BuiltIn(ref v1beta1.TargetRef) (Kind, bool) {
	named := Of(ref)
	for _, kind := range []Kind{Deployment, StatefulSet, DaemonSet} {
		if kind.GroupVersionKind == named {
			return kind, true
		}
	}
	return Kind{}, false
}

// Of is the kind that ref names, whether or not it exists. An apiVersion that is left out is apps/v1,
// as in the schema.
func Of(ref v1beta1.TargetRef) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(cmp.Or(ref.APIVersion, "apps/v1"), ref.Kind)
}

// Identity is the part of an object's metadata that the caches keep.
func Identity(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:         m.Namespace,
		Name:              m.Name,
		UID:               m.UID,
		ResourceVersion:   m.ResourceVersion,
		DeletionTimestamp: m.DeletionTimestamp,
	}
}
