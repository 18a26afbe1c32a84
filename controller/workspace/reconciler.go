package workspace

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/stores"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/metrics"
)

const (
	// recheck is when to look again after a write, if no watch tells of it before.
	recheck = 2 * time.Second
	// staleRetry is when to look again after somebody else was faster.
	staleRetry = 50 * time.Millisecond
)

// Reconciler brings each Workspace to its desired state, one step at a time.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// APIReader reads from the API server. Nothing is ever done on the word of the cache.
	APIReader client.Reader
	// Stores look into the object stores.
	Stores *stores.Stores
	// Clock is read once a pass.
	Clock clock.PassiveClock
	// Events publishes what a pass has to tell.
	Events *events.Recorder
	// MoverImage is the image of movers, Kyklos' own; "" if it is not known, and no home can be moved.
	MoverImage string
	// NoClasses: storage classes cannot be read, so a volume that is pending waits for a Pod, for all that is
	// known.
	NoClasses bool
	// Jitter returns a random part of d, so that Workspaces are not all looked at together.
	Jitter func(d time.Duration) time.Duration

	gate gate
	// classes remembers which storage classes bind late: name to bool.
	classes sync.Map
	// refusedSizes remembers what volumes could not grow to: claim's UID to size.
	refusedSizes sync.Map
	// measured remembers when it was last asked how far a mover is: Workspace's UID to question.
	measured sync.Map
}

// Reconcile is one pass over one Workspace. See the package comment for its beats.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	p := &pass{Reconciler: r, now: r.Clock.Now().UTC().Truncate(time.Second), newID: uuid.NewString(), ws: &v1alpha1.Workspace{}}
	err := r.Client.Get(ctx, req.NamespacedName, p.ws)
	if err == nil {
		err = p.look(ctx, cached)
	}
	if err == nil {
		err = p.decide(ctx)
	}
	if err == nil {
		err = p.carryOut(ctx)
	}
	if err == nil && !p.wrote {
		err = p.grow(ctx)
	}
	if err == nil && !p.wrote {
		err = p.progress(ctx)
	}
	switch {
	case apierrors.IsNotFound(err):
		r.forget(req.NamespacedName, p.ws.UID)
		return reconcile.Result{}, nil
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: staleRetry}, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return reconcile.Result{}, ctx.Err() // we are told to stop
	case err != nil:
		return reconcile.Result{}, err
	}
	p.show()
	return reconcile.Result{RequeueAfter: p.wait()}, nil
}

// wait is when to look again. Beside it the watches call.
func (p *pass) wait() time.Duration {
	if p.wrote {
		return recheck
	}
	wait := p.decision.RequeueAt.Sub(p.now)
	if p.follows {
		wait = min(wait, progressEvery)
	}
	if wait >= lifecycle.Poll {
		wait += p.Jitter(lifecycle.Poll / 10)
	}
	return max(wait, staleRetry)
}

// forget drops what is remembered of a Workspace that is gone.
func (r *Reconciler) forget(key types.NamespacedName, uid types.UID) {
	r.gate.gone(key, uid)
	r.measured.Delete(uid)
	r.Events.Forget(key)
	metrics.ForgetWorkspace(key)
}
