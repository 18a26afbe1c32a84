package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// +kubebuilder:rbac:groups="",resources=secrets;pods;persistentvolumeclaims,verbs=get

// workspaceReader reads what other objects say: of each its metadata alone, and past the cache, which
// holds neither Secrets nor what Kyklos did not make.
type workspaceReader struct {
	live       client.Reader
	namespaces []string // what live may read; none means all
}

var (
	secret = corev1.SchemeGroupVersion.WithKind("Secret")
	pod    = corev1.SchemeGroupVersion.WithKind("Pod")
	claim  = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
)

// exists reports whether an object is known to exist.
func (r workspaceReader) exists(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) bool {
	return r.get(ctx, namespace, kind, name) == nil
}

// missing reports whether an object is known not to exist.
func (r workspaceReader) missing(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) bool {
	return apierrors.IsNotFound(r.get(ctx, namespace, kind, name))
}

func (r workspaceReader) get(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) error {
	var object metav1.PartialObjectMetadata
	object.SetGroupVersionKind(kind)
	err := r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &object)
	if client.IgnoreNotFound(err) != nil {
		log.FromContext(ctx).V(1).Info("Skipped an admission check", "check", kind.Kind, "reason", err.Error())
	}
	return err
}
