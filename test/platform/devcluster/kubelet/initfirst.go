package kubelet

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// firstOnHost is a simulated pod with nothing but its init containers that are processes of this machine, and what they mount; nil
// if it has none. Sidecars are simulated. So what an init container checks is checked, and what a container mounts is made later.
func firstOnHost(pod *corev1.Pod) *corev1.Pod {
	if pod == nil || RunsOnHost(pod) {
		return nil
	}
	var first []corev1.Container
	mounted := map[string]bool{}
	for _, c := range pod.Spec.InitContainers {
		if isSidecar(&c) || !strings.HasPrefix(c.Image, HostImage) {
			continue
		}
		first = append(first, c)
		for _, mount := range c.VolumeMounts {
			mounted[mount.Name] = true
		}
	}
	if len(first) == 0 {
		return nil
	}
	only := pod.DeepCopy()
	only.Spec.InitContainers, only.Spec.Containers, only.Status.ContainerStatuses = first, nil, nil
	only.Spec.Volumes = slices.DeleteFunc(only.Spec.Volumes, func(v corev1.Volume) bool { return !mounted[v.Name] })
	return only
}

func haveSucceeded(containers []corev1.ContainerStatus) bool {
	return !slices.ContainsFunc(containers, func(status corev1.ContainerStatus) bool {
		return status.State.Terminated == nil || status.State.Terminated.ExitCode != 0
	})
}
