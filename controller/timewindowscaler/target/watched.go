package target

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// fetched turns an object, or one of its subresources, into a target. err is that of the request, unless it
// has to do with the kind.
type fetched func(metadata *metav1.PartialObjectMetadata, object *unstructured.Unstructured, err error) (Target, error)

// readWatched reads a target of a kind that is watched by its metadata: by one GET if its object has
// changed since it was last read or written.
func readWatched(ctx context.Context, c *Clients, gvk schema.GroupVersionKind, key types.NamespacedName, memory *Memory, subresources []string, from fetched) (Target, error) {
	kind, err := c.resolve(ctx, gvk)
	if err != nil {
		return nil, err
	}
	objects, err := c.Watches.Objects(kind)
	if err != nil {
		return nil, err
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(gvk)
	if err := objects.Get(ctx, key, metadata); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if metadata.DeletionTimestamp != nil {
		return nil, nil
	}
	if last := memory.Last; !memory.Live && last != nil && last.Base().UID == metadata.UID && last.Base().isOf(metadata.ResourceVersion) {
		return last, nil
	}
	memory.Last = nil
	var object *unstructured.Unstructured
	err = c.Watches.Request(ctx, gvk, func(ctx context.Context) (err error) {
		object, err = c.Dynamic.Resource(kind.GroupVersionResource()).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}, subresources...)
		return err
	})
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		// The kind is gone or has lost its scale; or the object is gone since, which is no error.
		c.Kinds.Forget(gvk)
		_, err := c.Kinds.Resolve(ctx, referenceTo(gvk))
		return nil, err
	case apierrors.IsForbidden(err):
		return nil, &targetkind.ForbiddenError{Kind: kind, Err: err}
	}
	found, err := from(metadata, object, err)
	if err != nil {
		return nil, err
	}
	memory.Last = found
	return found, nil
}

// patchWatched patches the spec of an object, or of one of its subresources.
func patchWatched(ctx context.Context, c *Clients, gvk schema.GroupVersionKind, key types.NamespacedName, seen Target, spec map[string]any, manager string, subresources ...string) (*unstructured.Unstructured, error) {
	kind, err := c.resolve(ctx, gvk)
	if err != nil {
		return nil, err
	}
	patch, err := mergePatch(seen.Base().ResourceVersion, spec)
	if err != nil {
		return nil, err
	}
	var object *unstructured.Unstructured
	err = c.Watches.Request(ctx, gvk, func(ctx context.Context) (err error) {
		object, err = c.Dynamic.Resource(kind.GroupVersionResource()).Namespace(key.Namespace).
			Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}, subresources...)
		return err
	})
	return object, err
}

// resolve returns a kind that is not cached, without a request if it is being watched.
func (c *Clients) resolve(ctx context.Context, gvk schema.GroupVersionKind) (targetkind.Kind, error) {
	if kind, watched := c.Watches.Kind(gvk); watched {
		return kind, nil
	}
	return c.Kinds.Resolve(ctx, referenceTo(gvk))
}

func referenceTo(gvk schema.GroupVersionKind) v1beta1.TargetRef {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return v1beta1.TargetRef{APIVersion: apiVersion, Kind: kind}
}
