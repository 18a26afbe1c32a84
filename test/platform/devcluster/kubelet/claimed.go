package kubelet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// WithClaims is a Runtime whose pods have no processes and yet find their claims' folders as containers do: a
// subPath that a container mounts is there when the pod runs.
type WithClaims struct {
	Runtime
	sources sources
}

// NewWithClaims returns others with the claims' folders of this machine.
func NewWithClaims(client kubernetes.Interface, others Runtime) WithClaims {
	return WithClaims{Runtime: others, sources: sources{client: client}}
}

// Sync holds a pod Pending until its claims' folders are there.
func (w WithClaims) Sync(ctx context.Context, pod *corev1.Pod, now time.Time) (corev1.PodStatus, time.Duration, error) {
	if pod.Status.Phase == corev1.PodPending {
		if err := w.sources.makeSubPaths(ctx, pod); err != nil {
			status := waiting(pod, now)
			setConditions(&status, now, corev1.ConditionFalse, "ContainersNotReady", err.Error())
			return status, pollInterval, nil
		}
	}
	return w.Runtime.Sync(ctx, pod, now)
}

// makeSubPaths makes what the pod's containers mount of its claims, if it is missing.
func (s sources) makeSubPaths(ctx context.Context, pod *corev1.Pod) error {
	claims := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			claims[v.Name] = v.PersistentVolumeClaim.ClaimName
		}
	}
	for _, c := range all(pod) {
		for _, mount := range c.VolumeMounts {
			claim, is := claims[mount.Name]
			if !is || mount.SubPath == "" {
				continue
			}
			root, err := s.claimed(ctx, pod.Namespace, claim)
			if err == nil {
				err = makeBelow(root, mount.SubPath)
			}
			if err != nil {
				return fmt.Errorf("%w: subPath %s of volume %s: %w", errMount, mount.SubPath, mount.Name, err)
			}
		}
	}
	return nil
}
