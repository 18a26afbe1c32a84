package kindwatch

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

	"kyklos.io/kyklos/internal/steadywatch"
	"kyklos.io/kyklos/internal/targetkind"
)

// cacheOptions keep only the identity and version of each object. end is called with the reason why the
// objects can no longer be listed or watched, failing with what the cache retries by itself, and alive when that is over.
func (w *Watches) cacheOptions(kind targetkind.Kind, end, failing func(error), alive func()) cache.Options {
	// The kind is resolved already, so the cache has nothing to look up.
	mapper := meta.NewDefaultRESTMapper(nil)
	plural := kind.GroupVersionResource()
	mapper.AddSpecific(kind.GroupVersionKind, plural, plural, meta.RESTScopeNamespace)
	return cache.Options{
		HTTPClient: w.HTTP, Mapper: mapper, Scheme: runtime.NewScheme(),
		DefaultNamespaces: Namespaces(w.Workspaces.NamespacesOf(kind, w.Namespaces)),
		DefaultTransform:  stripMetadata,
		NewInformer: steadywatch.NewInformer(func(err error, _ int) {
			if err == nil {
				alive()
				return
			}
			failing(err)
		}),
		DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) {
			switch {
			case apierrors.IsForbidden(err):
				end(&targetkind.ForbiddenError{Kind: kind, Err: err})
			case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
				end(err)
			default:
				failing(err)
			}
		},
	}
}

// Namespaces are the cache options for the namespaces to watch; none means all.
func Namespaces(names []string) map[string]cache.Config {
	if len(names) == 0 {
		return nil
	}
	configs := make(map[string]cache.Config, len(names))
	for _, name := range names {
		configs[name] = cache.Config{}
	}
	return configs
}

// handler passes on the keys of objects that came, changed or went. alive is called for each object that was
// listed or watched, changed or not.
func (w *Watches) handler(kind schema.GroupKind, alive func()) toolscache.ResourceEventHandler {
	notify := func(obj any) {
		alive()
		if deleted, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
			obj = deleted.Obj
		}
		if object, ok := obj.(client.Object); ok {
			w.Changed(kind, client.ObjectKeyFromObject(object))
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: notify,
		UpdateFunc: func(before, after any) {
			old, ok := before.(client.Object)
			if now, also := after.(client.Object); ok && also && old.GetResourceVersion() == now.GetResourceVersion() {
				alive()
				return // listed again, without a change
			}
			notify(after)
		},
		DeleteFunc: notify,
	}
}

func stripMetadata(obj any) (any, error) {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok {
		return obj, nil
	}
	return &metav1.PartialObjectMetadata{TypeMeta: o.TypeMeta, ObjectMeta: targetkind.Identity(&o.ObjectMeta)}, nil
}
