package orphan

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/events"
)

// staleRetry is when a write is tried again that met a newer DaemonSet.
const staleRetry = time.Second

// Reconciler looks after one DaemonSet at a time.
type Reconciler struct {
	// Client reads from the cache and writes to the API server; APIReader reads from the API server.
	Client    client.Client
	APIReader client.Reader
	Clock     clock.PassiveClock
	Events    *events.Recorder

	mu       sync.Mutex
	memories map[types.NamespacedName]memory
}

// Reconcile is one pass over a DaemonSet.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	d := &appsv1.DaemonSet{}
	err := r.Client.Get(ctx, req.NamespacedName, d)
	if apierrors.IsNotFound(err) || err == nil && d.DeletionTimestamp != nil {
		r.remember(req.NamespacedName, memory{})
		r.Events.Forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	o, err := r.observe(ctx, d)
	if err != nil {
		return reconcile.Result{}, err
	}
	o.memory = r.recall(req.NamespacedName).at(&o)
	next, after := plan(o)
	done, err := r.act(ctx, d, o, next)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err): // the cache is behind
		return reconcile.Result{RequeueAfter: staleRetry}, nil
	case err != nil:
		return reconcile.Result{}, err
	case !done: // so is it here
		return reconcile.Result{RequeueAfter: grace}, nil
	}
	r.remember(req.NamespacedName, o.after(next, o.now))
	return reconcile.Result{RequeueAfter: after}, nil
}

// at returns the memory as of an observation.
func (m memory) at(o *observation) memory {
	switch {
	case o.scaler != nil:
		m.goneSince, m.resumes = time.Time{}, o.scaler.Spec.DeletionPolicy == v1beta1.DeletionResume
	case !o.suspended:
		m.goneSince, m.resumes = time.Time{}, false
	case m.goneSince.IsZero():
		m.goneSince = o.now
	}
	return m
}

func (r *Reconciler) recall(key types.NamespacedName) memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memories[key]
}

// remember keeps what is not zero.
func (r *Reconciler) remember(key types.NamespacedName, m memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m == (memory{}) {
		delete(r.memories, key)
		return
	}
	if r.memories == nil {
		r.memories = map[types.NamespacedName]memory{}
	}
	r.memories[key] = m
}
