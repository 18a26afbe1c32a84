package kubelet

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// status is the pod's, from what became of its containers.
func (h *hostPod) status(pod *corev1.Pod, now time.Time) corev1.PodStatus {
	phase := h.phase(pod) // first: a container may end meanwhile, and a pod that has ended has none that runs
	status := h.begun(pod, now)
	status.Phase = phase
	ready, reason := corev1.ConditionTrue, ""
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if !c.Ready {
			ready, reason = corev1.ConditionFalse, "ContainersNotReady"
		}
	}
	if terminal(status.Phase) {
		ready, reason = corev1.ConditionFalse, "Pod"+string(status.Phase)
	}
	setConditions(&status, now, ready, reason, "")
	return status
}

// begun has the pod's address and its containers.
func (h *hostPod) begun(pod *corev1.Pod, now time.Time) corev1.PodStatus {
	status := begun(pod, now)
	status.PodIP, status.PodIPs = nodeAddress, []corev1.PodIP{{IP: nodeAddress}}
	status.InitContainerStatuses = h.statuses(pod, pod.Spec.InitContainers, true)
	status.ContainerStatuses = h.statuses(pod, pod.Spec.Containers, false)
	return status
}

// held is the status of a pod whose containers cannot be started yet.
func (h *hostPod) held(pod *corev1.Pod, now time.Time, why string) corev1.PodStatus {
	status := h.begun(pod, now)
	status.Phase = corev1.PodPending
	setConditions(&status, now, corev1.ConditionFalse, "ContainersNotReady", why)
	return status
}

// overdue is the status of a pod past its activeDeadlineSeconds.
func (h *hostPod) overdue(pod *corev1.Pod, now time.Time, gone bool) corev1.PodStatus {
	if !gone {
		return h.status(pod, now)
	}
	status := h.stopped(pod, now)
	status.Phase, status.Reason = corev1.PodFailed, "DeadlineExceeded"
	status.Message = "Pod was active on the node longer than the specified deadline"
	return status
}

// stopped is the status of a pod whose processes were ended. It failed if one of them did, as each of them
// does that was killed or never ran.
func (h *hostPod) stopped(pod *corev1.Pod, now time.Time) corev1.PodStatus {
	status := h.begun(pod, now)
	status.Phase = corev1.PodSucceeded
	for _, c := range pod.Spec.Containers {
		if !succeeded(h.containers[c.Name].run) {
			status.Phase = corev1.PodFailed
		}
	}
	setConditions(&status, now, corev1.ConditionFalse, "Pod"+string(status.Phase), "")
	return status
}

func (h *hostPod) phase(pod *corev1.Pod) corev1.PodPhase {
	for _, c := range pod.Spec.InitContainers {
		own := h.containers[c.Name]
		switch {
		case own.run != nil && isSidecar(&c):
		case own.run == nil || !own.run.ended():
			return corev1.PodPending
		case succeeded(own.run):
		case restarts(pod, &c, true, own.run.end.ExitCode):
			return corev1.PodPending
		default:
			return corev1.PodFailed
		}
	}
	failed, begun := false, false
	for _, c := range pod.Spec.Containers {
		own := h.containers[c.Name]
		if own.run == nil {
			continue
		}
		begun = true
		if !own.run.ended() || restarts(pod, &c, false, own.run.end.ExitCode) {
			return corev1.PodRunning
		}
		failed = failed || own.run.end.ExitCode != 0
	}
	switch {
	case !begun:
		return corev1.PodPending
	case len(h.unstarted(pod)) > 0:
		return corev1.PodRunning
	case failed:
		return corev1.PodFailed
	}
	return corev1.PodSucceeded
}

func (h *hostPod) unstarted(pod *corev1.Pod) (names []string) {
	for _, c := range pod.Spec.Containers {
		if h.containers[c.Name].run == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

func (h *hostPod) statuses(pod *corev1.Pod, containers []corev1.Container, initial bool) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, c := range containers {
		own := h.containers[c.Name]
		status := corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: "devcluster://" + c.Image, RestartCount: own.restarts, Started: ptr.To(false),
			LastTerminationState: corev1.ContainerState{Terminated: own.last},
		}
		switch {
		case own.run == nil:
			status.State.Waiting = own.waiting.DeepCopy()
		case !own.run.ended():
			status.State.Running = &corev1.ContainerStateRunning{StartedAt: seconds(own.run.started)}
			status.Started, status.Ready = ptr.To(true), own.run.isReady()
			status.ContainerID = containerID(h.dir + "/" + c.Name)
		case h.kill.IsZero() && !(h.sidecarsEnd && initial) && restarts(pod, &c, initial, own.run.end.ExitCode):
			status.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "it is started again soon"}
			status.LastTerminationState.Terminated = own.run.end.DeepCopy()
		default:
			status.State.Terminated = own.run.end.DeepCopy()
			status.Ready = initial && succeeded(own.run) && !isSidecar(&c)
			status.ContainerID = own.run.end.ContainerID
		}
		statuses = append(statuses, status)
	}
	return statuses
}
