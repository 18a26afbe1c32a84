// Package kindwatch watches the metadata of kinds of targets that are not in the manager's cache, each from
// the first scaler that names it on.
package kindwatch

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

// RetryInterval is the least time between two attempts to watch a kind.
const RetryInterval = 5 * time.Second

// ErrNotListedYet means that a kind's objects are still being listed. Its scalers are woken afterwards.
var ErrNotListedYet = errors.New("the objects of the target's kind are still being listed")

// Watches watches the metadata of further kinds. A watch stays when its last scaler goes: the kinds of the
// cluster bound their number. Each kind has its own cache, so that one that cannot be listed delays
// nothing else, readiness included.
type Watches struct {
	Config     *rest.Config
	HTTP       *http.Client
	Reviews    client.Writer // for targetkind.Permitted
	Clock      clock.PassiveClock
	Namespaces []string // what to watch; none means all
	Workspaces targetkind.Scope
	Log        logr.Logger
	// Changed is called for an object that came, changed or went; Known, when all scalers of a kind should
	// be reconciled.
	Changed func(schema.GroupKind, types.NamespacedName)
	Known   func(schema.GroupVersionKind)

	mu    sync.Mutex
	ctx   context.Context // nil until Start
	kinds map[schema.GroupVersionKind]*kindWatch
}

// kindWatch is the watch of one kind; its fields are guarded by Watches.mu.
type kindWatch struct {
	kind targetkind.Kind
	// forbidden is the permission that was missing at the last attempt.
	forbidden error
	// ended is when the last attempt ended.
	ended time.Time
	// stop ends the current attempt, or the watch; nil if there is none.
	stop context.CancelFunc
	// reader is nil until all objects are listed.
	reader client.Reader
	// trouble is why that fails; see trouble.go.
	trouble trouble
}

// Start starts the watches and ends them with ctx.
func (w *Watches) Start(ctx context.Context) error {
	w.mu.Lock()
	w.ctx = ctx
	named := slices.Collect(maps.Keys(w.kinds))
	w.mu.Unlock()
	for _, gvk := range named {
		w.Known(gvk)
	}
	<-ctx.Done()
	return nil
}

// Kind returns a kind that is being watched, so that its scalers need no discovery.
func (w *Watches) Kind(gvk schema.GroupVersionKind) (targetkind.Kind, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.kinds[gvk]; k != nil && k.reader != nil {
		return k.kind, true
	}
	return targetkind.Kind{}, false
}

// Objects reads the metadata of a kind's objects. It never waits: it starts the watch of a new kind,
// with ErrNotListedYet, an *UnlistedError or a *targetkind.ForbiddenError until it is.
func (w *Watches) Objects(kind targetkind.Kind) (client.Reader, error) {
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
		w.startAttempt(k)
	}
	switch {
	case k.reader != nil:
		return k.reader, nil
	case k.forbidden != nil:
		return nil, k.forbidden
	}
	if err := k.reported(w.Clock.Now()); err != nil {
		return nil, err
	}
	return nil, ErrNotListedYet
}

// startAttempt starts an attempt in the background, unless the last has only just ended. The lock is held.
func (w *Watches) startAttempt(k *kindWatch) {
	if age := w.Clock.Since(k.ended); w.ctx == nil || age >= 0 && age < RetryInterval {
		return
	}
	var ctx context.Context
	ctx, k.stop = context.WithCancel(w.ctx)
	kind := k.kind
	go func() {
		err := w.permitted(ctx, kind)
		var forbidden *targetkind.ForbiddenError
		if !errors.As(err, &forbidden) {
			err = w.watch(ctx, k, kind) // also where the review failed: the API server decides
		}
		if err != nil {
			w.end(ctx, k, err)
		}
	}()
}

// permitted reviews the permissions. An API server that does not answer must not keep the kind from being watched.
func (w *Watches) permitted(ctx context.Context, kind targetkind.Kind) error {
	ctx, cancel := context.WithTimeout(ctx, impatience)
	defer cancel()
	namespaces := w.Workspaces.NamespacesOf(kind, w.Namespaces)
	if len(namespaces) == 0 {
		return targetkind.Permitted(ctx, w.Reviews, kind, metav1.NamespaceAll)
	}
	for _, namespace := range namespaces {
		if err := targetkind.Permitted(ctx, w.Reviews, kind, namespace); err != nil {
			return err
		}
	}
	return nil
}

// watch starts to fill a cache with the kind's metadata.
func (w *Watches) watch(ctx context.Context, k *kindWatch, kind targetkind.Kind) error {
	alive := func() { w.alive(k) }
	caches, err := cache.New(w.Config, w.cacheOptions(kind, func(err error) { w.end(ctx, k, err) }, func(err error) { w.failing(k, err) }, alive))
	if err != nil {
		return fmt.Errorf("create a cache: %w", err)
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind.GroupVersionKind)
	informer, err := caches.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("create an informer: %w", err)
	}
	if _, err := informer.AddEventHandler(w.handler(kind.GroupKind(), alive)); err != nil {
		return fmt.Errorf("add a handler to an informer: %w", err)
	}
	go func() { _ = caches.Start(ctx) }() // ends with ctx, never with an error
	unlisted, listed := context.WithCancel(ctx)
	go w.askWhy(unlisted, k, kind)
	go func() {
		defer listed()
		if caches.WaitForCacheSync(ctx) {
			w.filled(ctx, k, caches)
		}
	}()
	return nil
}

// filled records that all objects of a kind are listed.
func (w *Watches) filled(ctx context.Context, k *kindWatch, reader client.Reader) {
	w.mu.Lock()
	if ctx.Err() != nil {
		w.mu.Unlock()
		return
	}
	k.reader, k.forbidden, k.trouble = reader, nil, trouble{}
	gvk := k.kind.GroupVersionKind
	w.mu.Unlock()
	w.Known(gvk)
}

// end ends an attempt or a watch, unless ctx has ended it before. Unless it is forbidden the kind is gone,
// and the next scaler that names it looks it up again.
func (w *Watches) end(ctx context.Context, k *kindWatch, err error) {
	w.mu.Lock()
	if ctx.Err() != nil {
		w.mu.Unlock()
		return
	}
	k.stop()
	var forbidden *targetkind.ForbiddenError
	stays := k.reader == nil && k.forbidden != nil && errors.As(err, &forbidden)
	k.stop, k.reader, k.forbidden, k.ended, k.trouble = nil, nil, nil, w.Clock.Now(), trouble{}
	if errors.As(err, &forbidden) {
		k.forbidden = err
	}
	gvk := k.kind.GroupVersionKind
	w.mu.Unlock()
	if !stays {
		w.Log.Info("Stopped watching a kind of targets", "kind", gvk.Kind, "reason", err.Error())
		w.Known(gvk)
	}
}
