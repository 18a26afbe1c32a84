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

// grow asks for the size that the spec says, if it is more than the home's volume was asked for. Whether
// the volume then grows is its class' affair; one that cannot is asked once, until the spec or the manager
// changes.
func (p *pass) grow(ctx context.Context) error {
	claim := p.sight.claim
	if claim == nil || p.asked.Pause || p.asked.Deleting || p.seen.Volume.State != lifecycle.VolumeBound || p.seen.Volume.Foreign ||
		string(claim.UID) != p.status.Volume.UID {
		return nil
	}
	size, err := resource.ParseQuantity(p.ws.Spec.Storage.Size)
	asked := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if err != nil || size.Cmp(asked) <= 0 {
		return nil
	}
	if refusedSize, known := p.refusedSizes.Load(claim.UID); known && refusedSize == size.String() {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": claim.UID},
		"spec":     map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size.String()}}},
	})
	if err != nil {
		return err
	}
	err = p.patchVolume(ctx, patch)
	if _, no := refusal(err); no {
		p.refusedSizes.Store(claim.UID, size.String())
		p.Events.Publish(p.ws, p.now, events.EmitWorkspaceTrouble(events.ReasonVolumeNotGrown, fmt.Sprintf(
			"Volume %s stays at %s and does not grow to %s: %v", objects.VolumeName(p.ws.Name), asked.String(), size.String(), err)))
		return nil
	}
	return err
}
