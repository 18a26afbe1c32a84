package workspace

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/controller/workspace/turns"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/undecodable"
)

const (
	// afterWrite is when the next pass starts after a write, unless a watch triggers it before.
	afterWrite = 2 * time.Second
	// afterConflict is when the next pass starts after a write conflict.
	afterConflict = 50 * time.Millisecond
)

// Reconciler brings each Workspace to its desired state, one step at a time.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// APIReader reads from the API server. Nothing is done on the basis of the cache alone.
	APIReader client.Reader
	// Store accesses the object stores.
	Store *store.Client
	// Clock is read once per pass.
	Clock clock.PassiveClock
	// Events publishes events.
	Events *events.Recorder
	// MoverImage is the image of movers, which is Kyklos' own. If it is empty, no home can be moved.
	MoverImage string
	// MoverResources are the requests and limits of movers, WatcherResources those of what watches whether workspaces are used.
	MoverResources, WatcherResources corev1.ResourceRequirements
	// NoClasses: storage classes cannot be read, so a pending volume is assumed to wait for a Pod.
	NoClasses bool
	// Jitter returns a random part of d, so that passes of different Workspaces are spread out.
	Jitter func(d time.Duration) time.Duration

	reservations reservations
	// classes caches which storage classes bind late: name to bool.
	classes sync.Map
	// rejectedSizes caches the size that each volume could not grow to: PVC's UID to size.
	rejectedSizes sync.Map
	// polls holds when the progress of a mover was last polled: Workspace's UID to poll.
	polls sync.Map
	// services holds the last failure about a Service: Workspace's UID to failedService.
	services sync.Map
}

// inTurn runs passes in their turn. The time limit of one begins with its turn.
type inTurn struct {
	*Reconciler
	turns *turns.Turns
	limit time.Duration
}

// Reconcile runs one pass over one Workspace when it is its turn.
func (r inTurn) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	ctx, end, err := r.turns.Begin(ctx, req.NamespacedName)
	if errors.Is(err, turns.ErrBusy) { // it is woken when it is its turn
		return reconcile.Result{RequeueAfter: lifecycle.Poll}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	return r.Reconciler.Reconcile(ctx, req)
}

// Reconcile runs one pass over one Workspace.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	ws := &v1alpha1.Workspace{}
	err := r.Client.Get(ctx, req.NamespacedName, ws)
	var result reconcile.Result
	if problem := undecodable.ProblemOf(ws); err == nil && problem != nil {
		r.leaveAlone(ctx, ws, problem)
		return reconcile.Result{}, nil
	}
	if err == nil {
		metrics.RecordUndecodable(targetkind.Workspace.Kind, req.NamespacedName, false)
		result, err = r.pass(ctx, ws)
	}
	switch {
	case apierrors.IsNotFound(err):
		r.forget(req.NamespacedName, ws.UID)
		return reconcile.Result{}, nil
	case errors.Is(err, turns.ErrBusy): // it is woken when it is its turn
		return reconcile.Result{RequeueAfter: lifecycle.Poll}, nil
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: afterConflict}, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return reconcile.Result{}, ctx.Err() // the manager is stopping
	}
	return result, err
}

func (r *Reconciler) pass(ctx context.Context, ws *v1alpha1.Workspace) (reconcile.Result, error) {
	observed, err := r.observe(ctx, ws, cached, r.Clock.Now().UTC().Truncate(time.Second))
	if err != nil {
		return reconcile.Result{}, err
	}
	p, err := r.plan(ctx, observed, answers{service: r.serve(ctx, observed)})
	if err != nil {
		return reconcile.Result{}, err
	}
	p, wrote, err := r.act(ctx, p)
	if err == nil && !wrote {
		p, wrote, err = r.writeStatus(ctx, p)
	}
	if err == nil && !wrote {
		err = r.grow(ctx, p)
	}
	moving := false
	if err == nil && !wrote {
		moving, err = r.pollMover(ctx, p)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	r.setGauges(p, wrote)
	return reconcile.Result{RequeueAfter: r.requeueAfter(p, wrote, moving)}, nil
}

// leaveAlone reports a Workspace of which parts cannot be decoded. Nothing is done until it is changed: which volume and
// which archive it needs follows from those parts.
func (r *Reconciler) leaveAlone(ctx context.Context, ws *v1alpha1.Workspace, problem *undecodable.Problem) {
	key := client.ObjectKeyFromObject(ws)
	log.FromContext(ctx).Error(problem, "The Workspace cannot be decoded; it is left alone")
	metrics.RecordUndecodable(targetkind.Workspace.Kind, key, true)
	r.Events.Publish(ws, r.Clock.Now(), events.EmitWorkspaceTrouble(events.ReasonUndecodable, problem.Error()+"; the Workspace is left alone"))
}

// requeueAfter is when the next pass starts, unless a watch triggers it before.
func (r *Reconciler) requeueAfter(p plan, wrote, moving bool) time.Duration {
	if wrote {
		return afterWrite
	}
	after := p.decision.RequeueAt.Sub(p.now)
	if moving {
		after = min(after, pollEvery)
	}
	if after >= lifecycle.Poll {
		after += r.Jitter(lifecycle.Poll / 10)
	}
	return max(after, afterConflict)
}

// forget drops the state of a Workspace that is gone.
func (r *Reconciler) forget(key types.NamespacedName, uid types.UID) {
	r.reservations.forget(key, uid)
	r.polls.Delete(uid)
	r.services.Delete(uid)
	r.Events.Forget(key)
	metrics.ForgetWorkspace(key)
	metrics.RecordUndecodable(targetkind.Workspace.Kind, key, false)
}
