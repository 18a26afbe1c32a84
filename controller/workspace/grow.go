package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// grow requests a larger volume if the spec says so. The storage class decides whether the volume can grow. A rejected size
// is not requested again until the spec or the manager changes. A volume that is being restored to is replaced instead.
func (r *Reconciler) grow(ctx context.Context, p plan) error {
	pvc := p.pvc
	if pvc == nil || p.spec.Pause || p.spec.Deleting || p.view.Volume.State != lifecycle.VolumeBound || p.view.Volume.Foreign ||
		string(pvc.UID) != p.status.Volume.UID || p.status.Operation.Type == lifecycle.Restoring {
		return nil
	}
	size, err := resource.ParseQuantity(p.ws.Spec.Storage.Size)
	requested := pvc.Spec.Resources.Requests[corev1.ResourceStorage]
	if err != nil || size.Cmp(requested) <= 0 {
		return nil
	}
	if rejected, known := r.rejectedSizes.Load(pvc.UID); known && rejected == size.String() {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pvc.UID},
		"spec":     map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size.String()}}},
	})
	if err != nil {
		return err
	}
	err = r.patchVolume(ctx, p.ws, patch)
	if _, ok := asRejection(err); !ok {
		return err
	}
	r.rejectedSizes.Store(pvc.UID, size.String())
	r.Events.Publish(p.ws, p.now, events.EmitWorkspaceTrouble(events.ReasonVolumeNotGrown, fmt.Sprintf(
		"Volume %s keeps its size %s and cannot grow to %s: %v", objects.VolumeName(p.ws.Name), requested.String(), size.String(), err)))
	return nil
}
