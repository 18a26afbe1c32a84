package objects

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// annotationPorts has the ports with which the Pod was started.
const annotationPorts = "kyklos.io/ports"

// Ports are those to which the Service leads: the ports with which the Workspace's Pod was started, as long as there is one, and then
// those of the spec, by which the next one starts. So nobody is cut off from a program that still listens (W103).
func Ports(ws *v1alpha1.Workspace, pod *corev1.Pod) []int32 {
	if pod == nil || !Ours(ws, pod) {
		return ws.Spec.Ports
	}
	text, known := pod.Annotations[annotationPorts]
	if !known {
		return ws.Spec.Ports
	}
	return split(text)
}

// Served returns the Workspace with the ports to which its Service leads.
func Served(ws *v1alpha1.Workspace, pod *corev1.Pod) *v1alpha1.Workspace {
	ports := Ports(ws, pod)
	if slices.Equal(ports, ws.Spec.Ports) {
		return ws
	}
	served := *ws
	served.Spec.Ports = ports
	return &served
}
