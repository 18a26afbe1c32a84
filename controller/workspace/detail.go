package workspace

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// detail is what the store or the API server, the mover or the Pod reported about a failure.
func (p plan) detail() message.Detail {
	if p.err != nil {
		detail := message.Detail{Text: p.err.Error()}
		if status := apierrors.APIStatus(nil); errors.As(p.err, &status) {
			detail.StatusCode = int(status.Status().Code)
		}
		return detail
	}
	for _, job := range p.view.Jobs {
		if job.State == lifecycle.JobFailed || job.State == lifecycle.JobRunning && p.decision.Code == lifecycle.CodeTimedOut {
			return p.moverDetail(job.UID)
		}
	}
	if p.noClass != "" {
		return message.Detail{Text: fmt.Sprintf("StorageClass %q does not exist", p.noClass)}
	}
	if p.pod != nil {
		if detail, failed := checkDetail(p.pod); failed {
			return detail
		}
		return podDetail(p.pod, objects.WorkspaceContainer)
	}
	return message.Detail{}
}

// moverDetail is a mover's result and exit code.
func (p plan) moverDetail(jobUID string) message.Detail {
	var detail message.Detail
	for i := range p.movers {
		if pod := &p.movers[i]; jobOf(pod) == jobUID {
			detail = podDetail(pod, objects.MoverContainer)
		}
	}
	if result, ok := moverResult(jobUID, p.movers); ok {
		detail.Text, detail.Code = result.Message, string(result.Code)
	}
	return detail
}

// podDetail is why a Pod is not ready or has ended: the last output of its own container, why that waits, or why the Pod was not
// scheduled. Only if its own container runs, or is unknown, the others count.
func podDetail(pod *corev1.Pod, own string) message.Detail {
	if detail, found := initDetail(pod, statusOf(pod, own)); found {
		return detail
	}
	statuses := pod.Status.ContainerStatuses
	if status := statusOf(pod, own); status != nil {
		statuses = append([]corev1.ContainerStatus{*status}, statuses...)
	}
	for _, container := range statuses {
		ended := container.State.Terminated
		if ended == nil {
			ended = container.LastTerminationState.Terminated
		}
		switch waiting := container.State.Waiting; {
		case ended != nil:
			return message.Detail{Text: joined(ended.Reason, ended.Message), ExitCode: &ended.ExitCode}
		case waiting != nil:
			return message.Detail{Text: joined(waiting.Reason, waiting.Message)}
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return message.Detail{Text: joined(condition.Reason, condition.Message)}
		}
	}
	return message.Detail{Text: joined(pod.Status.Reason, pod.Status.Message)}
}

func joined(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return fmt.Sprintf("%s: %s", reason, message)
}
