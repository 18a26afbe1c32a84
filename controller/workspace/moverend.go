package workspace

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/lifecycle"
)

// jobOf returns the UID of the Job that controls a Pod, or of the Pod if none does.
func jobOf(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Job" {
		return string(owner.UID)
	}
	return string(pod.UID)
}

// endOf returns how the mover's own container has ended; nil if it has not, or never ran.
func endOf(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if status := statusOf(pod, objects.MoverContainer); status != nil {
		return status.State.Terminated
	}
	return nil
}

// statusOf returns the status of a container; nil if there is none.
func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == container })
	if at < 0 {
		return nil
	}
	return &pod.Status.ContainerStatuses[at]
}

// moverEnd returns the state of a Job by the end of its mover. Containers that a webhook injected keep the Job running when
// the mover has ended, and make it fail when they fail: neither counts (W76). A Pod that is evicted or whose containers have all
// ended is left to the Job, which may replace it.
func moverEnd(state lifecycle.JobState, result mover.Result, jobUID string, pods []corev1.Pod) lifecycle.JobState {
	switch state {
	case lifecycle.JobFailed:
		if result.Code == mover.OK {
			return lifecycle.JobSucceeded
		}
	case lifecycle.JobRunning:
		ended := lifecycle.JobRunning
		for i := range pods {
			pod := &pods[i]
			if jobOf(pod) != jobUID || podEnded(pod) {
				continue
			}
			if endOf(pod) == nil {
				return lifecycle.JobRunning
			}
			switch {
			case result.Code == mover.OK:
				ended = lifecycle.JobSucceeded
			case !leaving(pod):
				ended = lifecycle.JobFailed
			}
		}
		return ended
	}
	return state
}

// leaving reports whether a Pod is ended from outside, such as by a drain.
func leaving(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// moverResult returns the result of the last of a Job's movers; false if there is none. Only the mover's own container says
// it, and OK only by an exit code of 0.
func moverResult(jobUID string, pods []corev1.Pod) (mover.Result, bool) {
	var last mover.Result
	var from *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if jobOf(pod) != jobUID || from != nil && pod.CreationTimestamp.Before(&from.CreationTimestamp) {
			continue
		}
		end := endOf(pod)
		if end == nil {
			continue
		}
		if result, err := mover.ParseResult(strings.TrimSpace(end.Message)); err == nil && (result.Code == mover.OK) == (end.ExitCode == 0) {
			last, from = result, pod
		}
	}
	return last, from != nil
}

// failure converts a mover's result code for the engine. A mover that was killed has none.
func failure(code mover.Code) (lifecycle.Reason, lifecycle.Code) {
	if code == mover.ArchiveUnverified {
		// After a Mismatch the next attempt uses a new key, so that nothing is deleted from the store that another mover
		// could still be writing. The collection removes what is left (D7).
		return lifecycle.Mismatch, lifecycle.CodeArchiveCorrupt
	}
	return lifecycle.Reason(code.Reason()), message.CodeOf(code)
}
