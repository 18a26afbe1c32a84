package timewindowscaler

import (
	"context"
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// scalables deals with a kind of which nothing is known but that it has the scale subresource. Its
// objects are watched by their metadata, and each change of one costs one GET of its scale: the
// steady state costs nothing (B3, B9).
type scalables struct {
	r    *Reconciler
	kind targetkind.Kind
}

func (w scalables) read(ctx context.Context, key types.NamespacedName, mem *recollection) (*target, error) {
	return w.readWatched(ctx, key, mem, func(object *metav1.PartialObjectMetadata) (*target, error) {
		return w.readScale(ctx, key, object)
	})
}

// readWatched fetches the target if its object has changed since it was last read or written.
func (w scalables) readWatched(ctx context.Context, key types.NamespacedName, mem *recollection, fetch func(*metav1.PartialObjectMetadata) (*target, error)) (*target, error) {
	objects, err := w.r.watches.objects(w.kind)
	if err != nil {
		return nil, err
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(w.kind.GroupVersionKind)
	if err := objects.Get(ctx, key, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if object.DeletionTimestamp != nil {
		return nil, nil
	}
	if known := mem.scaled; !mem.live && known != nil && known.uid == object.UID && known.isOf(object.ResourceVersion) {
		return known, nil
	}
	found, err := fetch(object)
	mem.scaled = found
	return found, err
}

// isOf reports whether the target was read from the version of its object, or from a later one. Versions
// that cannot be compared count as others, so that no change is missed.
func (t *target) isOf(resourceVersion string) bool {
	return t.resourceVersion == resourceVersion || olderThan(resourceVersion, t.resourceVersion)
}

func (w scalables) readScale(ctx context.Context, key types.NamespacedName, object *metav1.PartialObjectMetadata) (*target, error) {
	var scale *unstructured.Unstructured
	err := w.ask(ctx, func(ctx context.Context) (err error) {
		scale, err = w.requests(key).Get(ctx, key.Name, metav1.GetOptions{}, "scale")
		return err
	})
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		return nil, w.lost(ctx)
	case apierrors.IsForbidden(err):
		return nil, &targetkind.ForbiddenError{Kind: w.kind, Err: err}
	case isUnset(err):
		return &target{uid: object.UID, resourceVersion: object.ResourceVersion, specReplicas: 1, unset: true}, nil
	case err != nil:
		return nil, err
	}
	return scaleTargetOf(scale)
}

func (w scalables) write(ctx context.Context, key types.NamespacedName, seen *target, replicas int32) (*target, error) {
	patch, err := scalePatch(seen.resourceVersion, replicas)
	if err != nil {
		return nil, err
	}
	var scale *unstructured.Unstructured
	err = w.ask(ctx, func(ctx context.Context) (err error) {
		scale, err = w.requests(key).Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager}, "scale")
		return err
	})
	if err != nil {
		return nil, err
	}
	return scaleTargetOf(scale)
}

func (w scalables) requests(key types.NamespacedName) dynamic.ResourceInterface {
	return w.r.Dynamic.Resource(w.kind.GroupVersionResource()).Namespace(key.Namespace)
}

// ask makes a request, unless the kind hangs. When it answers again all its scalers look.
func (w scalables) ask(ctx context.Context, request func(context.Context) error) error {
	recovered, err := w.r.slow.ask(ctx, w.kind.GroupVersionKind, w.r.Clock.Now(), request)
	if recovered {
		w.r.watches.known(w.kind.GroupVersionKind)
	}
	return err
}

// lost says why an object has no scale: its kind has none any more, or it has gone itself a moment ago,
// which is no error.
func (w scalables) lost(ctx context.Context) error {
	apiVersion, kind := w.kind.ToAPIVersionAndKind()
	ref := v1beta1.TargetRef{APIVersion: apiVersion, Kind: kind}
	w.r.Kinds.Forget(w.kind.GroupVersionKind)
	_, err := w.r.Kinds.Resolve(ctx, ref)
	return err
}

// isUnset reports that a scale cannot be read because its object's spec asks for no count. The API
// server answers so for custom resources (apiextensions-apiserver, ScaleREST.Get); a write sets it.
func isUnset(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "the spec replicas field") && strings.Contains(err.Error(), "does not exist")
}

// scaleTargetOf takes the target from its scale, which carries its object's identity.
func scaleTargetOf(object *unstructured.Unstructured) (*target, error) {
	var scale autoscalingv1.Scale
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &scale); err != nil {
		return nil, fmt.Errorf("read the scale of %s: %w", object.GetName(), err)
	}
	return &target{
		uid:              scale.UID,
		resourceVersion:  scale.ResourceVersion,
		specReplicas:     scale.Spec.Replicas,
		observedReplicas: scale.Status.Replicas,
		readyReplicas:    scale.Status.Replicas,
	}, nil
}
