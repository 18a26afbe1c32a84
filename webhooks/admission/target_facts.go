package admission

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// readTarget sets facts.Unscalable, or facts.Forbidden, or facts.TargetMissing: a target is looked for
// once its kind is known and may be read, and in a namespace that is served.
func (r factReader) readTarget(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	kind, err := r.kinds.Resolve(ctx, obj.Spec.TargetRef)
	if isUnscalable(err) {
		facts.Unscalable = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up the target's kind: %w", err)
	}
	if facts.Unserved {
		return nil
	}
	if r.reviews != nil {
		err = targetkind.Permitted(ctx, r.reviews, kind, obj.Namespace)
		if errors.As(err, &facts.Forbidden) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("ask for permissions: %w", err)
		}
	}
	target, reader := r.object(kind)
	err = reader.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: obj.Spec.TargetRef.Name}, target)
	facts.TargetMissing = apierrors.IsNotFound(err)
	return client.IgnoreNotFound(err)
}

// isUnscalable reports whether err says that a kind can be no target, in the words of targetkind.
func isUnscalable(err error) bool {
	var unknown *targetkind.UnknownError
	var unscalable *targetkind.NotScalableError
	return errors.As(err, &unknown) || errors.As(err, &unscalable)
}

// object is an empty object of the kind and where it is read: the caches of all replicas hold the
// built-in kinds, and of any other only the metadata is read, past the cache.
func (r factReader) object(kind targetkind.Kind) (client.Object, client.Reader) {
	switch kind {
	case targetkind.Deployment:
		return &appsv1.Deployment{}, r.cached
	case targetkind.StatefulSet:
		return &appsv1.StatefulSet{}, r.cached
	case targetkind.DaemonSet:
		return &appsv1.DaemonSet{}, r.cached
	default:
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(kind.GroupVersionKind)
		return object, r.live
	}
}
