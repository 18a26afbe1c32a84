package timewindowscaler

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// echoes are the writes of targets that a watch has yet to show, or has shown. They need no pass of their own: each scaler that
// has written reports later, in a pass that reads the target again.
type echoes struct {
	// wake wakes scalers.
	wake func(...types.NamespacedName)

	mu      sync.Mutex
	awaited map[types.NamespacedName]*echo
}

// echo is what a target looks like after a write. heard: a watch has shown it, without waking the scaler.
type echo struct {
	target types.UID
	want   target.Desired
	heard  bool
}

// expect is called before the target is written.
func (e *echoes) expect(scaler types.NamespacedName, of types.UID, want target.Desired) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.awaited == nil {
		e.awaited = map[types.NamespacedName]*echo{}
	}
	e.awaited[scaler] = &echo{target: of, want: want}
}

// forget ends the wait for an echo, and reports whether there was one. It is called before the target is read, so that nothing
// that a watch shows later is missed.
func (e *echoes) forget(scaler types.NamespacedName) (heard bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	awaited := e.awaited[scaler]
	delete(e.awaited, scaler)
	return awaited != nil && awaited.heard
}

// hear reports whether all of the scalers expect that their target looks so.
func (e *echoes) hear(seen target.Target, scalers []types.NamespacedName) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, scaler := range scalers {
		if awaited := e.awaited[scaler]; awaited == nil || awaited.target != seen.Base().UID || !seen.AsksFor(awaited.want) {
			return false
		}
	}
	for _, scaler := range scalers {
		e.awaited[scaler].heard = true
	}
	return true
}

// none reports whether no echo is awaited, as it is mostly.
func (e *echoes) none() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.awaited) == 0
}

// awaitEcho ends a pass. If the scaler has nothing to report any more, no later pass would see what an echo showed.
func (r *Reconciler) awaitEcho(scaler types.NamespacedName) {
	if !r.attempts.Waits(scaler) && r.echoes.forget(scaler) {
		r.echoes.wake(scaler)
	}
}

// unlessEchoed handles changes of targets, unless they are echoes of writes.
type unlessEchoed struct {
	handler.EventHandler
	echoes  *echoes
	kind    target.Cached
	scalers func(context.Context, client.Object) []types.NamespacedName
}

// Update implements handler.EventHandler.
func (h unlessEchoed) Update(ctx context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	seen := e.ObjectNew
	if !h.echoes.none() && seen.GetDeletionTimestamp() == nil && h.echoes.hear(h.kind.FromObject(seen), h.scalers(ctx, seen)) {
		return
	}
	h.EventHandler.Update(ctx, e, queue)
}
