package workspace

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
)

// podReady reports whether the workspace can be used. Only its own container counts: a Pod that is not ready because a sidecar is
// not, is (W90). For every other reason, such as a node that does not answer, the Pod's condition counts.
func podReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type != corev1.PodReady {
			continue
		}
		if condition.Status == corev1.ConditionTrue {
			return true
		}
		own := statusOf(pod, objects.WorkspaceContainer)
		return condition.Reason == "ContainersNotReady" && own != nil && own.Ready && own.State.Running != nil
	}
	return false
}

// initDetail is why an init container keeps the Pod's own from its first start; false if none does.
func initDetail(pod *corev1.Pod, own *corev1.ContainerStatus) (message.Detail, bool) {
	if own != nil && (own.State.Waiting == nil || own.LastTerminationState.Terminated != nil) {
		return message.Detail{}, false
	}
	for _, status := range pod.Status.InitContainerStatuses {
		ended, waiting := status.State.Terminated, status.State.Waiting
		if ended != nil && ended.ExitCode == 0 || status.Ready || status.State.Running != nil && status.LastTerminationState.Terminated == nil {
			continue
		}
		if ended == nil {
			ended = status.LastTerminationState.Terminated
		}
		name := fmt.Sprintf("init container %s: ", status.Name)
		switch {
		case ended != nil && ended.ExitCode != 0:
			return message.Detail{Text: name + joined(ended.Reason, ended.Message), ExitCode: &ended.ExitCode}, true
		case waiting != nil && waiting.Reason != "PodInitializing" && waiting.Reason != "ContainerCreating":
			return message.Detail{Text: name + joined(waiting.Reason, waiting.Message)}, true
		}
	}
	return message.Detail{}, false
}
