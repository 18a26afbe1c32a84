package workspace

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// createPod creates the Workspace's Pod. If it is refused, the API server is asked, by a dry run, whether that is because of the
// container that Kyklos adds: nothing in the spec has its image and its resources (W105).
func (r *Reconciler) createPod(ctx context.Context, ws *v1alpha1.Workspace, a lifecycle.Action) error {
	pod, err := objects.Pod(ws, a)
	if err != nil {
		return rejectedForGood(err)
	}
	if a.CheckHome {
		if r.MoverImage == "" {
			return rejectedForGood(errNoImage)
		}
		objects.AddHomeCheck(pod, r.MoverImage, r.WatcherResources)
	}
	without := pod.DeepCopy()
	watched := objects.AddWatcher(pod, ws, r.MoverImage, r.WatcherResources)
	err = classify(r.Client.Create(ctx, pod))
	refused, ok := errors.AsType[*rejection](err)
	if ok && watched && r.Client.Create(ctx, without, client.DryRunAll) == nil {
		refused.error = fmt.Errorf("%w. That is about the container %s, without which the Pod is accepted: its resources are --activity-requests and --activity-limits of the manager, and its image is --mover-image",
			refused.error, objects.WatcherContainer)
	}
	return err
}
