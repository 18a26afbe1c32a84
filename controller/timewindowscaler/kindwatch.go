package timewindowscaler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/targetkind"
)

// rewatchInterval is how often, at most, a kind is tried again that could not be watched.
const rewatchInterval = 5 * time.Second

// errNotWatchedYet says that a kind's objects are still being listed. The scalers that name it are
// woken when they are.
var errNotWatchedYet = errors.New("the objects of the target's kind are still being listed")

// kindWatches watches the metadata of further kinds, each from the first scaler that names it on. A
// watch stays when the last such scaler goes: the kinds of the cluster bound their number. Each kind
// has a cache of its own, so that one that cannot be listed holds up nothing else, readiness
// included.
type kindWatches struct {
	config     *rest.Config
	http       *http.Client
	reviews    client.Writer // for targetkind.Permitted
	clock      clock.PassiveClock
	namespaces []string // what to watch; none means all
	log        logr.Logger
	// changed tells of an object that came, changed or went; known, that all scalers of a kind should
	// look again.
	changed func(schema.GroupKind, types.NamespacedName)
	known   func(schema.GroupVersionKind)

	mu    sync.Mutex
	ctx   context.Context // nil until Start
	kinds map[schema.GroupVersionKind]*kindWatch
}

// kindWatch is one kind's; the fields are guarded by kindWatches.mu.
type kindWatch struct {
	kind targetkind.Kind
	// forbidden is the permission that was missing at the last try.
	forbidden error
	// ended is when the last try did; zero without one.
	ended time.Time
	// stop ends the try that is under way, or the watch; nil without.
	stop context.CancelFunc
	// reader is nil until all objects are listed.
	reader client.Reader
}

// Start lets the watches begin, and ends them with ctx.
func (w *kindWatches) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	named := slices.Collect(maps.Keys(w.kinds))
	w.mu.Unlock()
	for _, gvk := range named {
		w.known(gvk)
	}
	<-ctx.Done()
	return nil
}

// kind returns a kind that is watched, so that steady scalers need not ask what it is.
func (w *kindWatches) kind(gvk schema.GroupVersionKind) (targetkind.Kind, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.kinds[gvk]; k != nil && k.reader != nil {
		return k.kind, true
	}
	return targetkind.Kind{}, false
}

// objects reads the metadata of a kind's objects. It never waits: a kind that nobody named before
// begins to be watched, and is errNotWatchedYet or a *targetkind.ForbiddenError until it is.
func (w *kindWatches) objects(kind targetkind.Kind) (client.Reader, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.kinds[kind.GroupVersionKind]
	if k == nil {
		k = &kindWatch{}
		if w.kinds == nil {
			w.kinds = map[schema.GroupVersionKind]*kindWatch{}
		}
		w.kinds[kind.GroupVersionKind] = k
	}
	if k.stop == nil {
		k.kind = kind
		w.begin(k)
	}
	switch {
	case k.reader != nil:
		return k.reader, nil
	case k.forbidden != nil:
		return nil, k.forbidden
	default:
		return nil, errNotWatchedYet
	}
}

// begin tries to watch, in the background, unless the last try has only just ended. The lock is held.
func (w *kindWatches) begin(k *kindWatch) {
	if age := w.clock.Since(k.ended); w.ctx == nil || age >= 0 && age < rewatchInterval {
		return
	}
	var ctx context.Context
	ctx, k.stop = context.WithCancel(w.ctx)
	kind := k.kind
	go func() {
		err := w.permitted(ctx, kind)
		var forbidden *targetkind.ForbiddenError
		if !errors.As(err, &forbidden) {
			err = w.watch(ctx, k, kind) // also where nobody could say: the API server will
		}
		if err != nil {
			w.end(ctx, k, err)
		}
	}()
}

func (w *kindWatches) permitted(ctx context.Context, kind targetkind.Kind) error {
	if len(w.namespaces) == 0 {
		return targetkind.Permitted(ctx, w.reviews, kind, metav1.NamespaceAll)
	}
	for _, namespace := range w.namespaces {
		if err := targetkind.Permitted(ctx, w.reviews, kind, namespace); err != nil {
			return err
		}
	}
	return nil
}

// watch fills a cache with the kind's metadata, and returns once that has begun.
func (w *kindWatches) watch(ctx context.Context, k *kindWatch, kind targetkind.Kind) error {
	caches, err := cache.New(w.config, w.cacheOptions(kind, func(err error) { w.end(ctx, k, err) }))
	if err != nil {
		return fmt.Errorf("make a cache: %w", err)
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind.GroupVersionKind)
	informer, err := caches.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("make an informer: %w", err)
	}
	if _, err := informer.AddEventHandler(w.handler(kind.GroupKind())); err != nil {
		return fmt.Errorf("listen to an informer: %w", err)
	}
	go func() { _ = caches.Start(ctx) }() // it ends with ctx, and knows no error
	go func() {
		if caches.WaitForCacheSync(ctx) {
			w.filled(ctx, k, caches)
		}
	}()
	return nil
}

// filled says that all objects of a kind are listed.
func (w *kindWatches) filled(ctx context.Context, k *kindWatch, reader client.Reader) {
	w.mu.Lock()
	if ctx.Err() != nil {
		w.mu.Unlock()
		return
	}
	k.reader, k.forbidden = reader, nil
	gvk := k.kind.GroupVersionKind
	w.mu.Unlock()
	w.known(gvk)
}

// end ends a try or a watch, unless ctx says that it has ended before. What is not forbidden is gone:
// whoever needs the kind looks it up anew.
func (w *kindWatches) end(ctx context.Context, k *kindWatch, err error) {
	w.mu.Lock()
	if ctx.Err() != nil {
		w.mu.Unlock()
		return
	}
	k.stop()
	var forbidden *targetkind.ForbiddenError
	stays := k.reader == nil && k.forbidden != nil && errors.As(err, &forbidden)
	k.stop, k.reader, k.forbidden, k.ended = nil, nil, nil, w.clock.Now()
	if errors.As(err, &forbidden) {
		k.forbidden = err
	}
	gvk := k.kind.GroupVersionKind
	w.mu.Unlock()
	if !stays {
		w.log.Info("Stopped watching a kind of targets", "kind", gvk.Kind, "reason", err.Error())
		w.known(gvk)
	}
}
