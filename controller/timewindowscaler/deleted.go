package timewindowscaler

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/statuswriter"
	"kyklos.io/kyklos/internal/undecodable"
)

// deleted ends a pass for a scaler that is gone, or is being deleted: its target is left as it is. One that a finalizer
// holds says so in its status, which waits for no turn.
func (r *Reconciler) deleted(ctx context.Context, req reconcile.Request, stored *v1beta1.TimeWindowScaler, state *scalerState, now time.Time) (reconcile.Result, error) {
	r.attempts.Decided(req.NamespacedName)
	r.attempts.Reported(req.NamespacedName)
	state.unpublished.send(r.Events)
	if stored != nil && len(stored.Finalizers) > 0 {
		r.release(req.NamespacedName)
		state.wakeUp = time.Time{}
		if err := r.writeDeleting(ctx, stored, state, now); err != nil {
			return r.failed(ctx, req, state, now, err)
		}
	}
	r.forget(req.NamespacedName)
	return state.untilAsked(reconcile.Result{}, now), nil
}

// writeDeleting writes the status of a scaler that is being deleted, if it is not stored yet.
func (r *Reconciler) writeDeleting(ctx context.Context, stored *v1beta1.TimeWindowScaler, state *scalerState, now time.Time) error {
	status := deletingStatus(state.unstored.inForce(stored), now)
	problem := undecodable.ProblemOf(stored)
	switch {
	case (problem == nil || problem.Status == nil) && equality.Semantic.DeepEqual(stored.Status, status):
		return nil
	case problem == nil:
		return r.writeStatus(ctx, stored, status, state)
	default:
		return r.replaceStatus(ctx, stored, status)
	}
}

// deletingStatus says what a deletion waits for. What a schedule decides is left out: nothing decides any more.
func deletingStatus(tws *v1beta1.TimeWindowScaler, now time.Time) v1beta1.TimeWindowScalerStatus {
	return v1beta1.TimeWindowScalerStatus{
		ObservedGeneration: tws.Generation,
		LastScaleTime:      tws.Status.LastScaleTime.DeepCopy(),
		Conditions: statuswriter.BuildConditions(statuswriter.States{
			Ready:       no(v1beta1.ReasonBeingDeleted, "The TimeWindowScaler "+schedule.Deleting(tws)),
			Reconciling: no(v1beta1.ReasonStable, "The target is left alone"),
			Degraded:    no(v1beta1.ReasonBeingDeleted, "The spec does not apply any more; see Ready"),
		}, tws.Status.Conditions, tws.Generation, *timePointer(now)),
	}
}
