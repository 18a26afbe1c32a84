package admission

import (
	"context"
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/targetkind"
)

// workspaceReader reads the metadata of other objects from the API server: the cache contains neither Secrets
// nor objects that Kyklos did not create. Its permissions are in the role for Workspaces, with those of their controller.
type workspaceReader struct {
	live       client.Reader
	reviews    client.Writer // nil: findings are for a user who may read everything that live may
	namespaces []string      // what live may read; none means all
	scope      targetkind.Scope
	tryPod     func(context.Context, *v1alpha1.Workspace) field.ErrorList // nil: the API server is not asked
}

var (
	secret                = corev1.SchemeGroupVersion.WithKind("Secret")
	pod                   = corev1.SchemeGroupVersion.WithKind("Pod")
	persistentVolumeClaim = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

	resources = map[schema.GroupVersionKind]string{secret: "secrets", pod: "pods", persistentVolumeClaim: "persistentvolumeclaims"}
)

// gather returns the facts about obj; old is nil on create. A fact that cannot be read is left out and logged.
func (r workspaceReader) gather(ctx context.Context, obj, old *v1alpha1.Workspace) WorkspaceFacts {
	created, judged := old == nil, obj.Spec.Template != nil && templateChanges(obj, old)
	facts := WorkspaceFacts{Unserved: r.unserved(obj.Namespace)}
	if facts.Unserved != "" {
		return facts
	}
	readCtx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	var reads sync.WaitGroup
	if archive := obj.Spec.Archive; archive != nil {
		reads.Go(func() { facts.StoreMissing = r.missing(readCtx, obj.Namespace, secret, archive.StoreRef.Name) })
	}
	if created && obj.Name != "" {
		reads.Go(func() { facts.ForeignPod = r.exists(readCtx, obj.Namespace, pod, "ws-"+obj.Name) })
		reads.Go(func() {
			facts.ForeignVolume = r.foreignVolume(readCtx, obj)
		})
	}
	if r.tryPod != nil && judged {
		reads.Go(func() { facts.PodInvalid = r.tryPod(readCtx, obj) })
	}
	reads.Wait()
	return facts
}

// unserved is the flag for which the manager leaves Workspaces of a namespace alone; empty if it serves them.
func (r workspaceReader) unserved(namespace string) string {
	var forbidden *targetkind.ForbiddenError
	switch {
	case len(r.namespaces) > 0 && !slices.Contains(r.namespaces, namespace):
		return "--namespaces"
	case errors.As(r.scope.Check(targetkind.Workspace, namespace), &forbidden):
		return forbidden.Flag
	}
	return ""
}

// exists reports whether an object is known to exist, and the user may know it; missing, whether it is known not to.
func (r workspaceReader) exists(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) bool {
	_, err := r.get(ctx, namespace, kind, name)
	return err == nil && r.mayKnow(ctx, kind, name)
}

// foreignVolume reports whether a volume of the name is known to exist, and is not the home that a deleted Workspace of this name
// left behind, which this one continues with.
func (r workspaceReader) foreignVolume(ctx context.Context, obj *v1alpha1.Workspace) bool {
	name := "ws-" + obj.Name + "-home"
	found, err := r.get(ctx, obj.Namespace, persistentVolumeClaim, name)
	// As controller/workspace/objects marks them.
	left := found.Labels["app.kubernetes.io/managed-by"] != "kyklos" && found.Labels["kyklos.io/workspace"] == obj.Name &&
		found.Annotations["kyklos.io/home-content"] != ""
	return err == nil && (!left || obj.Spec.RestoreFrom != "") && r.mayKnow(ctx, persistentVolumeClaim, name)
}

func (r workspaceReader) missing(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) bool {
	_, err := r.get(ctx, namespace, kind, name)
	return apierrors.IsNotFound(err) && r.mayKnow(ctx, kind, name)
}

func (r workspaceReader) mayKnow(ctx context.Context, kind schema.GroupVersionKind, name string) bool {
	return mayKnow(ctx, r.reviews, kind.GroupVersion().WithResource(resources[kind]), name)
}

func (r workspaceReader) get(ctx context.Context, namespace string, kind schema.GroupVersionKind, name string) (object metav1.PartialObjectMetadata, err error) {
	object.SetGroupVersionKind(kind)
	err = r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &object)
	if client.IgnoreNotFound(err) != nil {
		log.FromContext(ctx).V(1).Info("Skipped an admission check", "check", kind.Kind, "reason", err.Error())
	}
	return object, err
}
