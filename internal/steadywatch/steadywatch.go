// Package steadywatch keeps caches from staying behind after an outage of the API server. client-go waits longer after each
// failure, up to a minute, so a change of a schedule would be noticed that much later. Here a list or watch that fails
// because the API server has trouble is repeated every few seconds instead.
package steadywatch

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// pause is the least time between two attempts. It is drawn up to half as long again.
const pause = 2 * time.Second

// errEnded stands for a connection that ended before a watch began. client-go returns an empty watch for it.
var errEnded = errors.New("the connection ended before the watch began")

// NewInformer returns a constructor of informers. asked is called for each attempt that fails, with the number of those in a
// row, and for the first one that does not, without an error.
func NewInformer(asked func(err error, failures int)) func(cache.ListerWatcher, runtime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer {
	return func(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformer(steady(lw, asked), example, resync, indexers)
	}
}

func steady(lw cache.ListerWatcher, asked func(error, int)) *cache.ListWatch {
	inner := cache.ToListerWatcherWithContext(lw)
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return repeated(ctx, asked, func() (runtime.Object, error) { return inner.ListWithContext(ctx, options) })
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return repeated(ctx, asked, func() (watch.Interface, error) {
				w, err := inner.WatchWithContext(ctx, options)
				if err == nil && reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch()) {
					return nil, errEnded
				}
				return w, err
			})
		},
	}
}

// repeated calls until there is an answer that client-go can do something about, or ctx ends.
func repeated[T any](ctx context.Context, asked func(error, int), call func() (T, error)) (answer T, err error) {
	for failures := 0; ; {
		answer, err = call()
		if err == nil && failures > 0 {
			asked(nil, failures)
		}
		if err == nil || !isTrouble(err) || ctx.Err() != nil {
			return answer, err
		}
		failures++
		asked(err, failures)
		select {
		case <-time.After(wait.Jitter(pause, 0.5)):
		case <-ctx.Done():
			return answer, err
		}
	}
}

// isTrouble reports whether the same request may be answered later. A timeout is not among them: that is also how the API server
// says that it does not know a resourceVersion yet, and client-go then asks for another.
func isTrouble(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true // no connection
	}
	code := status.Status().Code
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError && !apierrors.IsTimeout(err)
}
