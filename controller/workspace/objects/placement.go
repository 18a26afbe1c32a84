package objects

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/podtemplate"
)

// deviceTolerations let a mover run on the nodes of the workspace's GPUs, although it requests none (W75). Such a node often
// has a taint with the resource's name, and the API server adds the toleration only to Pods that request the resource
// (ExtendedResourceToleration). A sidecar may have the device, too.
func deviceTolerations(ws *v1alpha1.Workspace) []corev1.Toleration {
	devices := map[string]bool{}
	for _, list := range []v1alpha1.ResourceList{ws.Spec.Resources.Requests, ws.Spec.Resources.Limits} {
		for name := range list {
			if strings.Contains(name, "/") {
				devices[name] = true
			}
		}
	}
	for _, list := range podtemplate.Resources(&ws.Spec) {
		for name := range list {
			if strings.Contains(string(name), "/") {
				devices[string(name)] = true
			}
		}
	}
	var all []corev1.Toleration
	for _, name := range slices.Sorted(maps.Keys(devices)) {
		all = append(all, corev1.Toleration{Key: name, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return all
}
