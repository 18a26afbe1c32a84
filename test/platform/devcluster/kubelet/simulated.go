package kubelet

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Annotations on a pod that decide what the simulated runtime makes of it. They may change while the pod
// lives, so a test can hold a rollout half way and let it continue without waiting for a clock.
const (
	// PhaseAnnotation holds a pod Pending, or ends it: Pending, Running (the default), Succeeded or Failed.
	PhaseAnnotation = "devcluster.kyklos.io/phase"
	// ReadyAnnotation set to "false" keeps a running pod unready.
	ReadyAnnotation = "devcluster.kyklos.io/ready"
	// ReadyDelayAnnotation is the time from the pod's start to Ready, as a Go duration ("5s"). It is never
	// shorter and up to 1 s longer, because the API keeps the start in whole seconds.
	ReadyDelayAnnotation = "devcluster.kyklos.io/ready-delay"
	// SidecarsReadyAnnotation set to "false" keeps the sidecars of a running pod unready that have a readiness probe, and so the pod.
	SidecarsReadyAnnotation = "devcluster.kyklos.io/sidecars-ready"
	// SidecarMessage is how the last run of such a sidecar has ended. Nothing runs in a simulated pod, and Kyklos' own sidecar, which
	// watches ports, would say so.
	SidecarMessage = "nothing listens"
)

// Simulated is a Runtime without processes: every pod starts at once and runs until an annotation ends it.
type Simulated struct {
	// ReadyDelay applies where ReadyDelayAnnotation is missing.
	ReadyDelay time.Duration
}

var _ Runtime = Simulated{}

// Stop has nothing to stop; a pod that had not ended has failed.
func (Simulated) Stop(_ context.Context, _ types.NamespacedName, pod *corev1.Pod, now time.Time) (corev1.PodStatus, bool, error) {
	if pod == nil || terminal(pod.Status.Phase) {
		return corev1.PodStatus{}, true, nil
	}
	return ended(pod, corev1.PodFailed, now), true, nil
}

// Sync computes the status from the pod and now alone. A wrong annotation leaves the pod unready, with the
// reason in its Ready condition.
func (s Simulated) Sync(_ context.Context, pod *corev1.Pod, now time.Time) (corev1.PodStatus, time.Duration, error) {
	if terminal(pod.Status.Phase) {
		return pod.Status, 0, nil
	}
	switch phase := corev1.PodPhase(pod.Annotations[PhaseAnnotation]); phase {
	case corev1.PodSucceeded, corev1.PodFailed:
		return ended(pod, phase, now), 0, nil
	case corev1.PodPending:
		return waiting(pod, now), 0, nil
	case corev1.PodRunning, "":
		status, again := s.running(pod, now)
		return status, again, nil
	default:
		status := waiting(pod, now)
		setConditions(&status, now, corev1.ConditionFalse, "BadAnnotation", fmt.Sprintf(
			"annotation %s is %q: write Pending, Running, Succeeded or Failed", PhaseAnnotation, phase))
		return status, 0, nil
	}
}

func (s Simulated) running(pod *corev1.Pod, now time.Time) (corev1.PodStatus, time.Duration) {
	status := begun(pod, now)
	status.Phase = corev1.PodRunning
	ready, again, reason, message := s.readiness(pod, status.StartTime.Time, now)
	status.ContainerStatuses = containers(pod, ready == corev1.ConditionTrue, corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: *status.StartTime},
	})
	status.InitContainerStatuses = nil
	for _, c := range sidecars(pod) {
		one := simulatedStatus(pod, &c, c.ReadinessProbe == nil || pod.Annotations[SidecarsReadyAnnotation] != "false", corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: *status.StartTime},
		})
		if c.ReadinessProbe != nil {
			one.RestartCount = 1
			one.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{StartedAt: *status.StartTime, FinishedAt: *status.StartTime, Reason: "Completed", Message: SidecarMessage}
		}
		if status.InitContainerStatuses = append(status.InitContainerStatuses, one); !one.Ready && ready == corev1.ConditionTrue {
			ready, reason, message = corev1.ConditionFalse, "ContainersNotReady", "sidecar "+c.Name+" is not ready"
		}
	}
	setConditions(&status, now, ready, reason, message)
	return status, again
}

// readiness decides Ready and, while only time is missing, for how long.
func (s Simulated) readiness(pod *corev1.Pod, start, now time.Time) (ready corev1.ConditionStatus, again time.Duration, reason, message string) {
	if pod.Annotations[ReadyAnnotation] == "false" {
		return corev1.ConditionFalse, 0, "Held", "annotation " + ReadyAnnotation + " is \"false\""
	}
	delay := s.ReadyDelay
	if text, ok := pod.Annotations[ReadyDelayAnnotation]; ok {
		var err error
		if delay, err = time.ParseDuration(text); err != nil {
			return corev1.ConditionFalse, 0, "BadAnnotation",
				fmt.Sprintf("annotation %s is %q: write a duration such as 5s", ReadyDelayAnnotation, text)
		}
	}
	// The start may have been cut by just under a second on its way through the API; round it up.
	if left := start.Truncate(time.Second).Add(time.Second).Add(delay).Sub(now); delay > 0 && left > 0 {
		return corev1.ConditionFalse, left, "Delayed", fmt.Sprintf("becomes ready %s after its start", delay)
	}
	return corev1.ConditionTrue, 0, "", ""
}

// waiting is a pod whose containers are still being made.
func waiting(pod *corev1.Pod, now time.Time) corev1.PodStatus {
	status := begun(pod, now)
	status.Phase = corev1.PodPending
	status.ContainerStatuses = containers(pod, false, corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"},
	})
	setConditions(&status, now, corev1.ConditionFalse, "ContainersNotReady", "")
	return status
}

// ended is a pod whose containers have all ended, with exit code 0 or 1.
func ended(pod *corev1.Pod, phase corev1.PodPhase, now time.Time) corev1.PodStatus {
	status := begun(pod, now)
	status.Phase = phase
	end := &corev1.ContainerStateTerminated{StartedAt: *status.StartTime, FinishedAt: metav1.NewTime(now), Reason: "Completed"}
	if phase == corev1.PodFailed {
		end.ExitCode, end.Reason = 1, "Error"
	}
	status.ContainerStatuses = containers(pod, false, corev1.ContainerState{Terminated: end})
	setConditions(&status, now, corev1.ConditionFalse, "Pod"+string(phase), "")
	return status
}

// begun keeps start time and addresses once given, so that a restart of devcluster changes nothing.
func begun(pod *corev1.Pod, now time.Time) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	if status.StartTime == nil {
		status.StartTime = ptr.To(metav1.NewTime(now))
	}
	status.HostIP = nodeAddress
	status.HostIPs = []corev1.HostIP{{IP: nodeAddress}}
	if status.PodIP == "" {
		status.PodIP = address(pod.UID)
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	}
	return status
}

// address makes up an address in 11.0.0.0/8 that nothing listens on and that is the same in every run.
func address(uid types.UID) string {
	sum := fnv.New32a()
	sum.Write([]byte(uid))
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, 11<<24|sum.Sum32()>>8))).String()
}

func containers(pod *corev1.Pod, ready bool, state corev1.ContainerState) []corev1.ContainerStatus {
	statuses := make([]corev1.ContainerStatus, 0, len(pod.Spec.Containers))
	for _, c := range pod.Spec.Containers {
		statuses = append(statuses, simulatedStatus(pod, &c, ready, state))
	}
	return statuses
}

func simulatedStatus(pod *corev1.Pod, c *corev1.Container, ready bool, state corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: "devcluster://" + c.Image,
		ContainerID: "devcluster://" + string(pod.UID) + "/" + c.Name,
		Ready:       ready, Started: ptr.To(state.Running != nil), State: state,
	}
}

// setConditions sets the kubelet's own conditions; a transition time moves only with its status.
func setConditions(status *corev1.PodStatus, now time.Time, ready corev1.ConditionStatus, reason, message string) {
	setCondition(status, now, corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue})
	setCondition(status, now, corev1.PodCondition{Type: corev1.ContainersReady, Status: ready, Reason: reason, Message: message})
	setCondition(status, now, corev1.PodCondition{Type: corev1.PodReady, Status: ready, Reason: reason, Message: message})
}

func setCondition(status *corev1.PodStatus, now time.Time, condition corev1.PodCondition) {
	condition.LastTransitionTime = metav1.NewTime(now)
	for i, old := range status.Conditions {
		if old.Type == condition.Type {
			if old.Status == condition.Status {
				condition.LastTransitionTime = old.LastTransitionTime
			}
			status.Conditions[i] = condition
			return
		}
	}
	status.Conditions = append(status.Conditions, condition)
}

func terminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodSucceeded || phase == corev1.PodFailed
}
