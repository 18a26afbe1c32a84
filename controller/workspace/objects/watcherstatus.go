package objects

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/lifecycle"
)

// exactness is how exact the kubelet's times are, twice.
const exactness = 2 * time.Second

// Watcher returns what the kubelet reports of the watcher in the Workspace's Pod, and what it was started to watch.
func Watcher(ws *v1alpha1.Workspace, pod *corev1.Pod) (lifecycle.Watcher, Watches) {
	seconds, err := strconv.Atoi(pod.Annotations[annotationUseLasts])
	if err != nil {
		return lifecycle.Watcher{}, Watches{}
	}
	watches := watchedIn(pod)
	watcher := lifecycle.Watcher{Exists: true, Lasts: time.Duration(seconds) * time.Second, Outdated: !watches.cover(WatchesOf(&ws.Spec))}
	status := initStatus(pod, WatcherContainer)
	if status == nil {
		return watcher, watches
	}
	if last := LastEnd(pod, WatcherContainer); last != nil {
		switch word := activity.ParseWord(last.Message); word.State {
		case activity.Silent:
			watcher.NothingListens = true
		case activity.Idle:
			watcher.Idle, watcher.SaidAt = true, last.FinishedAt.UTC()
			if word.Ever {
				watcher.LastUsed = watcher.SaidAt.Add(-word.Unused)
			}
		}
	}
	if status.State.Running != nil {
		watcher.Runs, watcher.Ready, watcher.StartedAt = true, status.Ready, status.State.Running.StartedAt.UTC()
		watcher.UsedSince, watcher.Unsure = watcher.Idle && wasReady(pod, watcher), watcher.Idle && !othersReady(pod)
	}
	return watcher, watches
}

// wasReady reports whether all containers were ready at some time of the current run of a watcher that is not: it was, then. All
// times are of the same node.
func wasReady(pod *corev1.Pod, watcher lifecycle.Watcher) bool {
	all := condition(pod, corev1.ContainersReady)
	return watcher.Ready || all != nil && all.Status == corev1.ConditionFalse && all.LastTransitionTime.After(watcher.StartedAt.Add(exactness))
}

// flags are those of the watcher.
func (w Watches) flags() (flags []string) {
	if len(w.Ports) > 0 {
		flags = append(flags, flagPorts, joined(w.Ports))
	}
	if w.CPUPercent > 0 {
		flags = append(flags, flagCPUPercent, strconv.Itoa(int(w.CPUPercent)))
	}
	return flags
}

// watchedIn is what the watcher in a Pod was started to watch.
func watchedIn(pod *corev1.Pod) (watches Watches) {
	flag := ""
	for _, word := range strings.Fields(pod.Annotations[annotationWatches]) {
		switch flag {
		case flagPorts:
			watches.Ports = split(word)
		case flagCPUPercent:
			percent, _ := strconv.ParseInt(word, 10, 32)
			watches.CPUPercent = int32(percent)
		}
		flag = word
	}
	return watches
}

// cover reports whether who is not used by what is watched is not by what counts either. Where nothing counts, nobody knows.
func (w Watches) cover(counts Watches) bool {
	for _, port := range counts.Ports {
		if !slices.Contains(w.Ports, port) {
			return false
		}
	}
	return !counts.None() && (counts.CPUPercent == 0 || w.CPUPercent > 0 && w.CPUPercent <= counts.CPUPercent)
}

// Same reports whether the same counts.
func (w Watches) Same(other Watches) bool {
	return w.CPUPercent == other.CPUPercent && slices.Equal(w.Ports, other.Ports)
}

func joined(ports []int32) string {
	var texts []string
	for _, port := range ports {
		texts = append(texts, strconv.Itoa(int(port)))
	}
	return strings.Join(texts, ",")
}

// split is the reverse of joined. It is never nil.
func split(text string) []int32 {
	ports := []int32{}
	for part := range strings.SplitSeq(text, ",") {
		if port, err := strconv.ParseInt(part, 10, 32); err == nil {
			ports = append(ports, int32(port))
		}
	}
	return ports
}

func initStatus(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for i := range pod.Status.InitContainerStatuses {
		if status := &pod.Status.InitContainerStatuses[i]; status.Name == container {
			return status
		}
	}
	return nil
}

// LastEnd is how the last run of an init container ended that has; nil if none has.
func LastEnd(pod *corev1.Pod, container string) *corev1.ContainerStateTerminated {
	status := initStatus(pod, container)
	switch {
	case status == nil:
		return nil
	case status.State.Terminated != nil:
		return status.State.Terminated
	}
	return status.LastTerminationState.Terminated
}

// Ready reports whether the workspace can be used. Only its own container counts: a Pod that is not ready because a sidecar is not,
// is (W90), and so is one that nobody uses. For every other reason, such as a node that does not answer, the Pod's condition counts.
func Ready(pod *corev1.Pod) bool {
	ready := condition(pod, corev1.PodReady)
	if ready == nil || ready.Status == corev1.ConditionTrue {
		return ready != nil
	}
	return ready.Reason == "ContainersNotReady" && slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.Name == WorkspaceContainer && status.Ready && status.State.Running != nil
	})
}

// othersReady reports whether all containers of the Pod are ready but the watcher.
func othersReady(pod *corev1.Pod) bool {
	for _, status := range pod.Status.InitContainerStatuses {
		if status.Name != WatcherContainer && !status.Ready {
			return false
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if !status.Ready {
			return false
		}
	}
	return len(pod.Status.ContainerStatuses) > 0
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
