package objects_test

import (
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// W75: a mover can run exactly where the workspace can, without its GPU.
func TestMoversRunWhereTheWorkspaceCan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws := workspaces(t)
		device := rapid.SampledFrom([]string{"", "nvidia.com/gpu"}).Draw(t, "device")
		if device != "" {
			ws.Spec.Resources.Limits = v1alpha1.ResourceList{device: "1", "hugepages-2Mi": "2Mi"}
		}
		pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
		if err != nil {
			t.Fatal(err)
		}
		if device != "" { // as the API server's ExtendedResourceToleration does
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: device, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
		}
		for _, operation := range []lifecycle.OperationType{lifecycle.Archiving, lifecycle.Restoring} {
			spec := objects.MoverPod(ws, action(lifecycle.ActCreateJob), move(operation)).Spec
			if !reflect.DeepEqual(spec.NodeSelector, pod.Spec.NodeSelector) || !reflect.DeepEqual(spec.Tolerations, pod.Spec.Tolerations) {
				t.Errorf("%s: %v and %v, the workspace has %v and %v", operation, spec.NodeSelector, spec.Tolerations, pod.Spec.NodeSelector, pod.Spec.Tolerations)
			}
			if !reflect.DeepEqual(spec.Affinity, pod.Spec.Affinity) || spec.RuntimeClassName != pod.Spec.RuntimeClassName || spec.SchedulerName != pod.Spec.SchedulerName {
				t.Errorf("%s: another placement than the workspace's", operation)
			}
			for name := range spec.Containers[0].Resources.Limits {
				if !slices.Contains([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, name) {
					t.Errorf("%s takes %s from the workspaces", operation, name)
				}
			}
		}
	})
}
