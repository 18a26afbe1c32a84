package podtemplate

import (
	corev1 "k8s.io/api/core/v1"
)

// defaultUser is the user and the group of workspaces and movers, unless the template names others.
const defaultUser int64 = 1000

// secure sets what the restricted Pod Security Standard wants to be said, where the template says nothing.
func secure(spec *corev1.PodSpec) {
	spec.SecurityContext = security(spec.SecurityContext)
	otherwise(&spec.AutomountServiceAccountToken, false)
	otherwise(&spec.EnableServiceLinks, false)
	for container := range Containers(spec) {
		container.SecurityContext = ContainerSecurity(container.SecurityContext)
	}
}

func security(given *corev1.PodSecurityContext) *corev1.PodSecurityContext {
	s := &corev1.PodSecurityContext{}
	if given != nil {
		s = given.DeepCopy()
	}
	otherwise(&s.RunAsNonRoot, true)
	otherwise(&s.RunAsUser, defaultUser)
	otherwise(&s.RunAsGroup, defaultUser)
	otherwise(&s.FSGroup, defaultUser)
	// Do not walk through a home of a million files at each start.
	otherwise(&s.FSGroupChangePolicy, corev1.FSGroupChangeOnRootMismatch)
	otherwise(&s.SeccompProfile, corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault})
	return s
}

// ContainerSecurity is what the restricted Pod Security Standard requires of each container, and what is given. given may be nil.
func ContainerSecurity(given *corev1.SecurityContext) *corev1.SecurityContext {
	s := &corev1.SecurityContext{}
	if given != nil {
		s = given.DeepCopy()
	}
	otherwise(&s.AllowPrivilegeEscalation, false)
	otherwise(&s.Capabilities, corev1.Capabilities{})
	if len(s.Capabilities.Drop) == 0 {
		s.Capabilities.Drop = []corev1.Capability{"ALL"}
	}
	return s
}

func otherwise[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
