package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

const (
	// WatcherContainer is the name of the container that Kyklos adds to see whether the workspace is used.
	WatcherContainer = reserved + "activity"
	// WatcherUser is its user, which no container has that could end it.
	WatcherUser int64 = 65532
)

// processes checks what the containers of the Pod see of each other's processes. The watcher adds up the CPU of all, and who sees it
// and has its user could end it, and change what it has found.
func (c *checker) processes() {
	percent, shares := c.ws.Activity.CPUPercent > 0, ptr.Deref(c.spec.ShareProcessNamespace, false)
	if percent && c.spec.ShareProcessNamespace != nil && !shares {
		c.refuse(c.at.Child("shareProcessNamespace"), false, "must be true or left out with spec.activity.cpuPercent, for which the processes of all containers are seen; or leave out cpuPercent")
	}
	because := "spec.activity.cpuPercent"
	switch connections := len(c.ws.Ports) > 0 && ptr.Deref(c.ws.Activity.Connections, true); {
	case percent:
	case shares && connections:
		because = "shareProcessNamespace"
	default:
		return
	}
	other := func(at *field.Path, user *int64) {
		if user != nil && *user == WatcherUser {
			c.refuse(at.Child("securityContext", "runAsUser"), *user, "must be another user, such as 1000: it is that of the container %s, which shares its processes because of %s, and could be ended", WatcherContainer, because)
		}
	}
	if s := c.spec.SecurityContext; s != nil {
		other(c.at, s.RunAsUser)
	}
	c.eachContainer(func(at *field.Path, container *corev1.Container, initial bool) {
		runs := !initial || ptr.Deref(container.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
		if s := container.SecurityContext; runs && s != nil {
			other(at, s.RunAsUser)
		}
	})
}
