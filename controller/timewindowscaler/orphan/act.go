package orphan

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/targetkind"
)

// act does a step. It reports false if the API server knows a scaler that the cache does not show yet.
func (r *Reconciler) act(ctx context.Context, d *appsv1.DaemonSet, o observation, next step) (bool, error) {
	switch next {
	case mark:
		return true, r.patch(ctx, d, v1beta1.DeletionResume, nil)
	case unmark:
		return true, r.patch(ctx, d, nil, nil)
	case report, resume:
		if scaler, err := contention.OwnerOf(ctx, r.APIReader, d.Namespace, referenceTo(d.Name)); err != nil || scaler != nil {
			return false, err
		}
		if next == report {
			r.Events.Publish(d, o.now, events.EmitLeftSuspended(d.Name))
			return true, nil
		}
		if err := r.patch(ctx, d, nil, target.SuspendSpec(false)); err != nil {
			return true, err
		}
		r.Events.Publish(d, o.now, events.EmitResumedAfterDeletion())
	}
	return true, nil
}

// patch writes the annotation, or removes it, and changes the spec.
func (r *Reconciler) patch(ctx context.Context, d *appsv1.DaemonSet, policy any, spec map[string]any) error {
	_, err := target.PatchDaemonSet(ctx, r.Client, d, map[string]any{targetkind.DeletionPolicyAnnotation: policy}, spec)
	return err
}
