package kubelet

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ByImage is a Runtime that gives each pod to another one: those of RunsOnHost to Host.
type ByImage struct {
	Host, Others Runtime
}

var _ Runtime = ByImage{}

// Notify passes on to both.
func (b ByImage) Notify(changed func(types.NamespacedName)) {
	for _, runtime := range []Runtime{b.Host, b.Others} {
		if notifier, ok := runtime.(Notifier); ok {
			notifier.Notify(changed)
		}
	}
}

func (b ByImage) of(pod *corev1.Pod) Runtime {
	if RunsOnHost(pod) {
		return b.Host
	}
	return b.Others
}

// Sync asks the pod's own, once its init containers have succeeded that are processes.
func (b ByImage) Sync(ctx context.Context, pod *corev1.Pod, now time.Time) (corev1.PodStatus, time.Duration, error) {
	if first := firstOnHost(pod); first != nil && pod.Status.Phase == corev1.PodPending {
		begun, again, err := b.Host.Sync(ctx, first, now)
		if err != nil || len(begun.InitContainerStatuses) < len(first.Spec.InitContainers) || !haveSucceeded(begun.InitContainerStatuses) {
			status := waiting(pod, now)
			status.InitContainerStatuses = begun.InitContainerStatuses // and it is not ready, whatever they are
			return status, again, err
		}
	}
	return b.of(pod).Sync(ctx, pod, now)
}

// Stop asks the pod's own, and both when the pod is gone: its images are no longer known.
func (b ByImage) Stop(ctx context.Context, name types.NamespacedName, pod *corev1.Pod, now time.Time) (corev1.PodStatus, bool, error) {
	if first := firstOnHost(pod); first != nil {
		if _, gone, err := b.Host.Stop(ctx, name, first, now); err != nil || !gone {
			return pod.Status, false, err
		}
	}
	if pod != nil {
		return b.of(pod).Stop(ctx, name, pod, now)
	}
	_, hostGone, hostErr := b.Host.Stop(ctx, name, nil, now)
	_, othersGone, othersErr := b.Others.Stop(ctx, name, nil, now)
	return corev1.PodStatus{}, hostGone && othersGone, errors.Join(hostErr, othersErr)
}
