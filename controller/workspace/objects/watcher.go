package objects

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/podtemplate"
)

// WatcherContainer is the name of the container that watches whether the workspace is used (W80).
const WatcherContainer = "kyklos-activity"

// watcherState is where the watcher notes what it has found, in a volume that other containers do not have.
const (
	watcherFolder = "/activity"
	watcherState  = watcherFolder + "/state"
)

// annotationUseLasts is how long a use counts in this Pod, in seconds.
const annotationUseLasts = "kyklos.io/use-lasts"

// entrypoint is the program in Kyklos' image.
const entrypoint = "/kyklos"

// watcherUser is the UID of the watcher: the workspace's processes cannot end it.
const watcherUser int64 = 65532

// WatchesPorts reports whether connections to the ports count as use.
func WatchesPorts(ws *v1alpha1.Workspace) bool {
	return len(ws.Spec.Ports) > 0 && ptr.Deref(ws.Spec.Activity.Connections, true)
}

// AddWatcher adds the container that watches whether the workspace is used, if there is something to watch. image is Kyklos' own;
// without it, there is none. It tells the kubelet by its readiness: so the answer is in the status of the Pod, and needs no
// credential, no network and no request but the kubelet's, when it changes (ADR 39).
func AddWatcher(pod *corev1.Pod, ws *v1alpha1.Workspace, image string) {
	cpu := ws.Spec.Activity.CPUPercent
	if image == "" || !WatchesPorts(ws) && cpu == 0 {
		return
	}
	lasts := lifecycle.UseLasts(time.Duration(ws.Spec.StandbyTTLSeconds) * time.Second)
	args := []string{"activity", "watch", "--state", watcherState, "--termination-log", terminationLog, "--use-lasts", lasts.String(), "--ignore-shorter", shortest(ws, lasts).String()}
	if WatchesPorts(ws) {
		var ports []string
		for _, port := range ws.Spec.Ports {
			ports = append(ports, strconv.Itoa(int(port)))
		}
		args = append(args, "--ports", strings.Join(ports, ","))
	}
	if cpu > 0 {
		args = append(args, "--cpu-percent", strconv.Itoa(int(cpu)))
		pod.Spec.ShareProcessNamespace = ptr.To(true)
	}
	security := podtemplate.ContainerSecurity(nil)
	security.ReadOnlyRootFilesystem, security.RunAsUser, security.RunAsGroup = ptr.To(true), ptr.To(watcherUser), ptr.To(watcherUser)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: WatcherContainer, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("1Mi"))},
	}})
	pod.Annotations[annotationUseLasts] = strconv.Itoa(int(lasts / time.Second))
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{
		Name: WatcherContainer, Image: image, Args: args, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
		Resources: watcherResources(), SecurityContext: security,
		VolumeMounts: []corev1.VolumeMount{{Name: WatcherContainer, MountPath: watcherFolder}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{entrypoint, "activity", "check", "--state", watcherState}}},
			PeriodSeconds: int32(min(max(lasts/15, time.Second), 20*time.Second) / time.Second),
			// A probe that times out looks like an idle workspace, and somebody's build may starve the node.
			TimeoutSeconds:   60,
			FailureThreshold: 3,
		},
		TerminationMessagePath: terminationLog, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	})
}

// shortest is how long a connection must be open to count as use: longer than one of the readiness probe.
func shortest(ws *v1alpha1.Workspace, lasts time.Duration) time.Duration {
	least := min(lasts/30, 10*time.Second)
	if probe := ws.Spec.ReadinessProbe; probe != nil {
		least = max(least, time.Duration(max(probe.TimeoutSeconds, 1))*time.Second+5*time.Second)
	}
	return least
}

// watcherResources are enough for the watcher and one probe of it.
func watcherResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
	}
}

// Watcher returns what the kubelet reports of the watcher.
func Watcher(pod *corev1.Pod) lifecycle.Watcher {
	seconds, err := strconv.Atoi(pod.Annotations[annotationUseLasts])
	if err != nil {
		return lifecycle.Watcher{}
	}
	watcher := lifecycle.Watcher{Exists: true, Lasts: time.Duration(seconds) * time.Second}
	status := watcherStatus(pod)
	if status == nil {
		return watcher
	}
	last := status.LastTerminationState.Terminated
	watcher.NothingListens = last != nil && strings.TrimSpace(last.Message) == activity.NothingListens
	if status.State.Running == nil {
		return watcher
	}
	watcher.Runs, watcher.Ready, watcher.StartedAt = true, status.Ready, status.State.Running.StartedAt.UTC()
	if own := condition(pod, corev1.ContainersReady); own != nil && own.Status == corev1.ConditionFalse && othersReady(pod) {
		watcher.UnreadySince = own.LastTransitionTime.UTC()
	}
	return watcher
}

func watcherStatus(pod *corev1.Pod) *corev1.ContainerStatus {
	for i := range pod.Status.InitContainerStatuses {
		if status := &pod.Status.InitContainerStatuses[i]; status.Name == WatcherContainer {
			return status
		}
	}
	return nil
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
