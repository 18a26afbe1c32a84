// Package targetkind decides whether the kind that a spec.targetRef names exists in the cluster and can be
// scaled, and which scaler owns a target, so that admission and the reconciler cannot disagree (A3, A6, B8).
package targetkind

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1beta1"
)

// FieldManager is the name under which Kyklos owns what it writes to targets. Others configure their tools by
// it (Argo CD's managedFieldsManagers), so it never changes.
const FieldManager = "kyklos-controller"

// Kind is a kind that can be a target: it is namespaced, and has a scale subresource or is known to be
// written by its spec.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the name in paths and roles, such as rollouts.
	Resource string
}

// GroupVersionResource is what requests for objects of the kind name.
func (k Kind) GroupVersionResource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.Resource)
}

// The kinds that Kyklos knows by name.
var (
	Deployment  = Kind{appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments"}
	StatefulSet = Kind{appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"}
	DaemonSet   = Kind{appsv1.SchemeGroupVersion.WithKind("DaemonSet"), "daemonsets"}
	Workspace   = Kind{schema.GroupVersionKind{Group: v1beta1.GroupVersion.Group, Version: "v1alpha1", Kind: "Workspace"}, "workspaces"}
)

// known says what is special about each of them. Every cluster has a built-in kind, and the manager's role
// allows it. The role allows Workspaces too, but a cluster may have been upgraded without their CRD. Of a
// kind with ownSpec the spec is written, where others need a scale subresource.
var known = map[Kind]struct{ builtIn, ownSpec bool }{
	Deployment:  {builtIn: true},
	StatefulSet: {builtIn: true},
	DaemonSet:   {builtIn: true, ownSpec: true},
	Workspace:   {ownSpec: true},
}

// SuspendKey is the key in a DaemonSet's template.spec.nodeSelector, with the value "true", by which
// Kyklos suspends it: no node has this label, so no node runs its pods (A6). It is public contract.
const SuspendKey = "kyklos.io/suspended"

// SuspendValue is the value of SuspendKey in a suspended DaemonSet.
const SuspendValue = "true"

// DeletionPolicyAnnotation on a DaemonSet is the deletionPolicy of its TimeWindowScaler, if it is not the default: what it asks
// for is still known when it is gone.
const DeletionPolicyAnnotation = "kyklos.io/deletion-policy"

// BuiltIn returns the kind that ref names if every cluster has it. That needs no request.
func BuiltIn(ref v1beta1.TargetRef) (Kind, bool) {
	named := Of(ref)
	for kind, special := range known {
		if special.builtIn && kind.GroupVersionKind == named {
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
	var owners []metav1.OwnerReference
	if controller := metav1.GetControllerOfNoCopy(m); controller != nil {
		owners = []metav1.OwnerReference{*controller}
	}
	return metav1.ObjectMeta{
		Namespace:         m.Namespace,
		Name:              m.Name,
		UID:               m.UID,
		ResourceVersion:   m.ResourceVersion,
		DeletionTimestamp: m.DeletionTimestamp,
		OwnerReferences:   owners,
	}
}
