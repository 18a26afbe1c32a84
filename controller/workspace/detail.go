package workspace

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kyklos.io/kyklos/controller/workspace/words"
	"kyklos.io/kyklos/internal/lifecycle"
)

// detail is what others said about a failure: the store or the API server, the mover, or the Pod.
func (p *pass) detail() words.Detail {
	if p.trouble != nil {
		detail := words.Detail{Text: p.trouble.Error()}
		if status := apierrors.APIStatus(nil); errors.As(p.trouble, &status) {
			detail.StatusCode = int(status.Status().Code)
		}
		return detail
	}
	for _, job := range p.seen.Jobs {
		if job.State == lifecycle.JobFailed {
			return p.moverDetail(job.UID)
		}
	}
	if p.sight.pod != nil {
		return podDetail(p.sight.pod)
	}
	return words.Detail{}
}

// moverDetail is what a mover said, and its exit code.
func (p *pass) moverDetail(jobUID string) words.Detail {
	var detail words.Detail
	for i := range p.sight.movers {
		if pod := &p.sight.movers[i]; jobOf(pod) == jobUID {
			detail = podDetail(pod)
		}
	}
	if result, ok := moverResult(jobUID, p.sight.movers); ok {
		detail.Text, detail.Code = result.Message, string(result.Code)
	}
	return detail
}

// podDetail is why a Pod is not ready or has ended: the container's own last words, what keeps it from
// running, or why no node takes it.
func podDetail(pod *corev1.Pod) words.Detail {
	for _, container := range pod.Status.ContainerStatuses {
		ended := container.State.Terminated
		if ended == nil {
			ended = container.LastTerminationState.Terminated
		}
		switch waiting := container.State.Waiting; {
		case ended != nil:
			return words.Detail{Text: said(ended.Reason, ended.Message), ExitCode: &ended.ExitCode}
		case waiting != nil:
			return words.Detail{Text: said(waiting.Reason, waiting.Message)}
		}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return words.Detail{Text: said(condition.Reason, condition.Message)}
		}
	}
	return words.Detail{Text: said(pod.Status.Reason, pod.Status.Message)}
}

func said(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return fmt.Sprintf("%s: %s", reason, message)
}
