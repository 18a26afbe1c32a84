package orphan

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
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
		if scaler, err := owner(ctx, r.APIReader, d); err != nil || scaler != nil {
			return false, err
		}
		if next == report {
			r.Events.Publish(d, o.now, events.EmitLeftSuspended(d.Name))
			return true, nil
		}
		template := map[string]any{"spec": map[string]any{"nodeSelector": map[string]any{targetkind.SuspendKey: nil}}}
		if err := r.patch(ctx, d, nil, map[string]any{"template": template}); err != nil {
			return true, err
		}
		r.Events.Publish(d, o.now, events.EmitResumedAfterDeletion())
	}
	return true, nil
}

// patch writes the annotation, or removes it, and changes the spec, if the DaemonSet is still as it was read. In a merge patch null
// removes a key.
func (r *Reconciler) patch(ctx context.Context, d *appsv1.DaemonSet, policy any, spec map[string]any) error {
	body := map[string]any{"metadata": map[string]any{
		"resourceVersion": d.ResourceVersion, "annotations": map[string]any{targetkind.DeletionPolicyAnnotation: policy},
	}}
	if spec != nil {
		body["spec"] = spec
	}
	patch, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the patch: %w", err)
	}
	written := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}}
	return r.Client.Patch(ctx, written, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(r.FieldManager))
}
