package timewindowscaler

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/targetkind"
)

// cacheOptions keep of each object of a kind no more than who it is and its version. ends is told why
// the objects can be listed or watched no more; other failures the cache repeats by itself.
func (w *kindWatches) cacheOptions(kind targetkind.Kind, ends func(error)) cache.Options {
	// The kind is resolved already, so the cache has nothing to look up.
	mapper := meta.NewDefaultRESTMapper(nil)
	plural := kind.GroupVersionResource()
	mapper.AddSpecific(kind.GroupVersionKind, plural, plural, meta.RESTScopeNamespace)
	options := cache.Options{
		HTTPClient: w.http, Mapper: mapper, Scheme: runtime.NewScheme(),
		DefaultTransform: stripMetadata,
		DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) {
			switch {
			case apierrors.IsForbidden(err):
				ends(&targetkind.ForbiddenError{Kind: kind, Err: err})
			case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
				ends(err)
			}
		},
	}
	for _, namespace := range w.namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// handler passes on that an object is not what it was.
func (w *kindWatches) handler(kind schema.GroupKind) toolscache.ResourceEventHandler {
	tell := func(obj any) {
		if deleted, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
			obj = deleted.Obj
		}
		if object, ok := obj.(client.Object); ok {
			w.changed(kind, client.ObjectKeyFromObject(object))
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: tell,
		UpdateFunc: func(before, after any) {
			old, ok := before.(client.Object)
			if now, also := after.(client.Object); ok && also && old.GetResourceVersion() == now.GetResourceVersion() {
				return // listed again, with nothing new
			}
			tell(after)
		},
		DeleteFunc: tell,
	}
}

func stripMetadata(obj any) (any, error) {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return obj, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: o.TypeMeta, ObjectMeta: identity(&o.ObjectMeta)}, nil
}
