package workspaceidle

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/internal/events"
)

// Reconciler lowers the desired state of idle Workspaces.
type Reconciler struct {
	// Client reads the cache and writes; Live reads from the API server.
	Client client.Client
	Live   client.Reader
	// Clock is read once per pass (T7).
	Clock  clock.PassiveClock
	Events *events.Recorder

	memory memory
}

// Reconcile is one pass over one Workspace. See the package comment for its beats.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	now := r.Clock.Now()
	obs, err := r.observe(ctx, req.NamespacedName, now)
	if apierrors.IsNotFound(err) {
		r.Events.Forget(req.NamespacedName)
		r.memory.forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	next := makePlan(obs)
	done, err := r.act(ctx, obs, next)
	if err != nil {
		return reconcile.Result{}, err
	}
	rep := makeReport(obs, next, done)
	r.publish(ctx, obs, rep)
	return rep.result, nil
}
