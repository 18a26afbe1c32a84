package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// isSidecar reports whether an init container is a sidecar: the next one waits for its start only, it is started again however
// it ends, and it ends after the pod's containers.
func isSidecar(c *corev1.Container) bool {
	return ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
}

// sidecars are the pod's.
func sidecars(pod *corev1.Pod) (all []corev1.Container) {
	for _, c := range pod.Spec.InitContainers {
		if isSidecar(&c) {
			all = append(all, c)
		}
	}
	return all
}

// endSidecars sends SIGTERM to the sidecars, once, when the pod's other containers have ended for good.
func (h *hostPod) endSidecars(over func(*container, *corev1.Container) bool, pod *corev1.Pod) {
	side := sidecars(pod)
	if h.sidecarsEnd || len(side) == 0 {
		return
	}
	for _, c := range pod.Spec.Containers {
		if own := h.containers[c.Name]; !over(own, &c) {
			return
		}
	}
	h.sidecarsEnd = true
	for _, c := range side {
		if run := h.containers[c.Name].run; run != nil {
			run.signal(syscall.SIGTERM)
		}
	}
}

// signalOthers sends to all containers but the sidecars.
func (h *hostPod) signalOthers(pod *corev1.Pod, signal syscall.Signal) {
	side := map[string]bool{}
	for _, c := range sidecars(pod) {
		side[c.Name] = true
	}
	for name, own := range h.containers {
		if own.run != nil && !side[name] {
			own.run.signal(signal)
		}
	}
}

// program is the file that a container's probe runs: one that this machine does not have is the image's own.
func program(image, name string) string {
	path := strings.TrimPrefix(image, HostImage)
	if _, err := os.Stat(name); err != nil && filepath.IsAbs(name) && filepath.IsAbs(path) {
		return path
	}
	return name
}
