package workspace

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive/mover"
)

// homeCheck returns how the init container that looks for the home on an adopted volume has failed; nil if it has not.
func homeCheck(pod *corev1.Pod) (mover.Result, *corev1.ContainerStateTerminated) {
	end := objects.LastEnd(pod, objects.HomeCheckContainer)
	if end == nil || end.ExitCode == 0 {
		return mover.Result{}, nil
	}
	result, err := mover.ParseResult(strings.TrimSpace(end.Message))
	if err != nil {
		return mover.Result{}, nil
	}
	return result, end
}

// noHome reports whether a Pod does not start because its volume has no home.
func noHome(pod *corev1.Pod) bool {
	result, _ := homeCheck(pod)
	return result.Code == mover.HomeMissing
}

// checkDetail is what the check said; false if it has not failed.
func checkDetail(pod *corev1.Pod) (message.Detail, bool) {
	result, end := homeCheck(pod)
	if end == nil {
		return message.Detail{}, false
	}
	return message.Detail{Text: result.Message, Code: string(result.Code), ExitCode: &end.ExitCode}, true
}
