package timewindowscaler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/statuswriter"
	"kyklos.io/kyklos/internal/undecodable"
)

// unread ends a pass for a scaler that could not be read. An error concerns the read, and is retried. Part of a scaler may
// also be of no use to Go: the target is then left alone until the spec changes, and the status says why. A status like that
// is emptied, and the next pass writes a new one.
func (r *Reconciler) unread(ctx context.Context, req reconcile.Request, stored *v1beta1.TimeWindowScaler, state *scalerState, now time.Time, err error) (reconcile.Result, error) {
	var problem *undecodable.Problem
	if !errors.As(err, &problem) {
		return r.failed(ctx, req, state, now, err)
	}
	log.FromContext(ctx).Error(problem, "The TimeWindowScaler cannot be decoded; its target is left alone")
	state.unstored = unstoredStatus{}
	r.attempts.Over(attempts.ID{Scaler: req.NamespacedName, Work: attempts.WriteStatus})
	state.unpublished.send(r.Events)
	r.metrics.Follow(req.NamespacedName, nil)
	status := *stored.Status.DeepCopy()
	if problem.Spec != nil {
		detail := problem.Error()
		r.Events.Publish(stored, now, events.EmitWarning(events.ReasonInvalidSchedule, detail))
		status.ObservedGeneration = stored.Generation
		status.Conditions = statuswriter.BuildConditions(undecodableStates(detail), status.Conditions, stored.Generation, metav1.NewTime(now))
	}
	if problem.Status != nil || !equality.Semantic.DeepEqual(stored.Status, status) {
		if err := r.replaceStatus(ctx, stored, status); err != nil {
			return r.failed(ctx, req, state, now, statusError(stored, err))
		}
	}
	if problem.Spec == nil {
		return after(staleRetry), nil // with the empty status
	}
	return reconcile.Result{}, nil
}

func undecodableStates(detail string) statuswriter.States {
	return statuswriter.States{
		Ready:       statuswriter.State{Status: metav1.ConditionFalse, Reason: v1beta1.ReasonInvalidConfiguration, Message: detail},
		Reconciling: statuswriter.State{Status: metav1.ConditionFalse, Reason: v1beta1.ReasonStable, Message: "The target is left alone"},
		Degraded:    statuswriter.State{Status: metav1.ConditionTrue, Reason: v1beta1.ReasonInvalidConfiguration, Message: detail},
	}
}

// replaceStatus writes a whole status, whatever the stored one holds. The response is not decoded into Go's type.
func (r *Reconciler) replaceStatus(ctx context.Context, stored *v1beta1.TimeWindowScaler, status v1beta1.TimeWindowScalerStatus) error {
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": stored.ResourceVersion},
		{"op": "add", "path": "/status", "value": status},
	})
	if err != nil {
		return fmt.Errorf("encode the status: %w", err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(v1beta1.GroupKind.Kind))
	object.SetNamespace(stored.Namespace)
	object.SetName(stored.Name)
	return r.Client.Status().Patch(ctx, object, client.RawPatch(types.JSONPatchType, patch))
}
