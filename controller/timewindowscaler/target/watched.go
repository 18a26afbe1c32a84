package target

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/newest"
	"kyklos.io/kyklos/internal/targetkind"
)

// requestTimeout bounds one request about an object of a kind that is not cached. What serves it may hang, be it
// an aggregated API or a conversion webhook.
const requestTimeout = 5 * time.Second

// readWatched sends a GET only if the object has changed since it was last read or written.
func readWatched(ctx context.Context, c *Clients, watched Watched, key types.NamespacedName, memory *Memory, now time.Time) (Target, error) {
	gvk, _ := watched.Path()
	kind, err := c.resolve(ctx, gvk)
	if err == nil {
		err = c.Workspaces.Check(kind, key.Namespace)
	}
	if err != nil {
		return nil, err
	}
	objects, err := c.Watches.Objects(kind)
	if err != nil {
		return nil, err
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(gvk)
	versions := func() (newest.State[Target], error) {
		err := objects.Get(ctx, key, metadata)
		return newest.State[Target]{UID: metadata.UID, ResourceVersion: metadata.ResourceVersion}, client.IgnoreNotFound(err)
	}
	found, err := memory.Read(now, versions, func() (newest.State[Target], error) {
		return fetch(ctx, c, watched, kind, key, metadata)
	})
	if err != nil || found.UID == metadata.UID && metadata.DeletionTimestamp != nil {
		return nil, err
	}
	return found.Value, nil
}

// fetch sends the GET.
func fetch(ctx context.Context, c *Clients, watched Watched, kind targetkind.Kind, key types.NamespacedName, metadata *metav1.PartialObjectMetadata) (newest.State[Target], error) {
	gvk, subresources := watched.Path()
	answer, err := paced(ctx, c, func(ctx context.Context) (result[*unstructured.Unstructured], error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		object, err := c.Dynamic.Resource(kind.GroupVersionResource()).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}, subresources...)
		if isUnset(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
			return result[*unstructured.Unstructured]{err: err}, nil
		}
		return result[*unstructured.Unstructured]{value: object}, err
	})
	if err == nil {
		err = answer.err
	}
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		// The kind is gone or has lost its scale; or the object is gone since, which is not an error.
		c.Kinds.Forget(gvk)
		_, err := c.Kinds.Resolve(ctx, referenceTo(gvk))
		return newest.State[Target]{}, err
	case apierrors.IsForbidden(err):
		return newest.State[Target]{}, &targetkind.ForbiddenError{Kind: kind, Err: err}
	}
	found, err := watched.Fetched(metadata, answer.value, err)
	if err != nil {
		return newest.State[Target]{}, err
	}
	return asSeen(found), nil
}

// patchWatched patches the spec of the object, or of its subresource.
func patchWatched(ctx context.Context, c *Clients, watched Watched, key types.NamespacedName, seen Target, spec map[string]any, manager string) (Target, error) {
	gvk, subresources := watched.Path()
	kind, err := c.resolve(ctx, gvk)
	if err != nil {
		return nil, err
	}
	patch, err := mergePatch(seen.Base().ResourceVersion, nil, spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	object, err := c.Dynamic.Resource(kind.GroupVersionResource()).Namespace(key.Namespace).
		Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}, subresources...)
	if err != nil {
		return nil, err
	}
	return watched.Fetched(&metav1.PartialObjectMetadata{}, object, nil)
}

// resolve returns a kind that is not cached, without a request if it is being watched.
func (c *Clients) resolve(ctx context.Context, gvk schema.GroupVersionKind) (targetkind.Kind, error) {
	if kind, watched := c.Watches.Kind(gvk); watched {
		return kind, nil
	}
	answer, err := paced(ctx, c, func(ctx context.Context) (result[targetkind.Kind], error) {
		kind, err := c.Kinds.Resolve(ctx, referenceTo(gvk))
		if IsObstacle(err) {
			return result[targetkind.Kind]{err: err}, nil
		}
		return result[targetkind.Kind]{value: kind}, err
	})
	if err == nil {
		err = answer.err
	}
	return answer.value, err
}

// result is an answer that is not to be asked for again, even if it is an error.
type result[T any] struct {
	value T
	err   error
}

func referenceTo(gvk schema.GroupVersionKind) v1beta1.TargetRef {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return v1beta1.TargetRef{APIVersion: apiVersion, Kind: kind}
}
