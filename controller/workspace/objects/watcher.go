package objects

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/podtemplate"
)

// WatcherContainer is the name of the container that watches whether the workspace is used (W80).
const WatcherContainer = podtemplate.WatcherContainer

// watcherState is where the watcher notes what it has found, in a volume that other containers do not have.
const (
	watcherFolder = "/activity"
	watcherState  = watcherFolder + "/state"
)

const (
	// annotationUseLasts is how long a use counts in this Pod, in seconds.
	annotationUseLasts = "kyklos.io/use-lasts"
	// annotationWatches has what counts in this Pod, as the flags of the watcher: the manager does not keep the containers of Pods.
	annotationWatches = "kyklos.io/watches"
)

// entrypoint is the program in Kyklos' image.
const entrypoint = "/kyklos"

// The flags of the watcher that say what it watches.
const (
	flagPorts      = "--ports"
	flagCPUPercent = "--cpu-percent"
)

// Watches is what counts as use: by a spec, or in a Pod.
type Watches struct {
	// Ports are those to which somebody may be connected.
	Ports []int32
	// CPUPercent of one CPU is what the processes may need without being in use; 0 if CPU does not count.
	CPUPercent int32
}

// WatchesOf is what counts as use from the next start on.
func WatchesOf(spec *v1alpha1.WorkspaceSpec) Watches {
	watches := Watches{CPUPercent: spec.Activity.CPUPercent}
	if ptr.Deref(spec.Activity.Connections, true) {
		watches.Ports = spec.Ports
	}
	return watches
}

// None reports whether nothing counts.
func (w Watches) None() bool { return len(w.Ports) == 0 && w.CPUPercent == 0 }

// AddWatcher adds the container that watches whether the workspace is used, and reports whether there is something to watch. image is
// Kyklos' own; without it, there is none. It tells the kubelet by its readiness and by what it says when a run ends: so the answer is
// in the status of the Pod, and needs no credential, no network and no request but the kubelet's, when it changes (ADR 39, ADR 46).
func AddWatcher(pod *corev1.Pod, ws *v1alpha1.Workspace, image string, amounts corev1.ResourceRequirements) bool {
	watches := WatchesOf(&ws.Spec)
	if image == "" || watches.None() {
		return false
	}
	lasts := lifecycle.UseLasts(time.Duration(ws.Spec.StandbyTTLSeconds) * time.Second)
	args := []string{"activity", "watch", "--state", watcherState, "--termination-log", terminationLog, "--use-lasts", lasts.String(), "--ignore-shorter", shortest(ws, lasts).String()}
	args = append(args, watches.flags()...)
	if probes := probesOf(pod, watches.Ports); probes > 0 && len(watches.Ports) > 0 {
		args = append(args, "--probes", strconv.Itoa(probes))
	}
	if watches.CPUPercent > 0 {
		pod.Spec.ShareProcessNamespace = ptr.To(true)
	}
	security, user := podtemplate.ContainerSecurity(nil), podtemplate.WatcherUser
	security.ReadOnlyRootFilesystem, security.RunAsUser, security.RunAsGroup = ptr.To(true), &user, &user
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: WatcherContainer, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("1Mi"))},
	}})
	pod.Annotations[annotationUseLasts], pod.Annotations[annotationWatches] = strconv.Itoa(int(lasts/time.Second)), strings.Join(watches.flags(), " ")
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{
		Name: WatcherContainer, Image: image, Args: args, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
		Resources: *amounts.DeepCopy(), SecurityContext: security,
		VolumeMounts: []corev1.VolumeMount{{Name: WatcherContainer, MountPath: watcherFolder}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{entrypoint, "activity", "check", "--state", watcherState}}},
			PeriodSeconds: int32(min(max(lasts/15, time.Second), 20*time.Second) / time.Second),
			// Somebody's build may starve the node: the Pod should not become unready for that.
			TimeoutSeconds:   60,
			FailureThreshold: 3,
		},
		TerminationMessagePath: terminationLog, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	})
	return true
}

// shortest is how long a connection must be open to count as use: longer than one of the readiness probe.
func shortest(ws *v1alpha1.Workspace, lasts time.Duration) time.Duration {
	least := min(lasts/30, 10*time.Second)
	if probe := ws.Spec.ReadinessProbe; probe != nil {
		least = max(least, time.Duration(max(probe.TimeoutSeconds, 1))*time.Second+5*time.Second)
	}
	return least
}

// probesOf is how many connections a minute the kubelet's probes make, of those that stay visible for a while: HTTP's.
func probesOf(pod *corev1.Pod, ports []int32) (perMinute int) {
	for container := range podtemplate.Containers(&pod.Spec) {
		for _, probe := range []*corev1.Probe{container.ReadinessProbe, container.LivenessProbe} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Port.Type == intstr.Int && !slices.Contains(ports, probe.HTTPGet.Port.IntVal) {
				continue
			}
			period := int(cmp.Or(probe.PeriodSeconds, 10))
			perMinute += (60 + period - 1) / period
		}
	}
	return perMinute
}
