package timewindowscaler

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// NewCache returns a cache that reads the kinds of which CacheOptions keeps target.Counts only.
func NewCache(config *rest.Config, options cache.Options) (cache.Cache, error) {
	c := &countsCache{inner: toolscache.NewSharedIndexInformer, stores: map[reflect.Type][]toolscache.Store{}}
	if options.NewInformer != nil {
		c.inner = options.NewInformer
	}
	options.NewInformer = c.newInformer
	var err error
	c.Cache, err = cache.New(config, options)
	return c, err
}

type countsCache struct {
	cache.Cache
	// inner makes the informers.
	inner func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

	mu sync.Mutex
	// stores have the objects of a type, each those of some namespaces.
	stores map[reflect.Type][]toolscache.Store
}

func (c *countsCache) newInformer(source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	informer := c.inner(source, object, resync, indexers)
	if target.KeptAsCounts(object) {
		c.mu.Lock()
		defer c.mu.Unlock()
		kind := reflect.TypeOf(object)
		c.stores[kind] = append(c.stores[kind], informer.GetStore())
	}
	return informer
}

// Get implements client.Reader.
func (c *countsCache) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if !target.KeptAsCounts(into) {
		return c.Cache.Get(ctx, key, into, options...)
	}
	if _, err := c.GetInformer(ctx, into); err != nil { // waits until it is filled
		return err
	}
	kind := reflect.TypeOf(into)
	c.mu.Lock()
	stores := c.stores[kind]
	c.mu.Unlock()
	for _, store := range stores {
		kept, found, err := store.GetByKey(key.String())
		if err != nil {
			return fmt.Errorf("read %T from the cache: %w", into, err)
		}
		if found {
			kept.(*target.Counts).Expand(into)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: "apps", Resource: kind.Elem().Name()}, key.Name)
}
