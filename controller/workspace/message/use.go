package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// setUse writes whether the workspace is used (W80).
func (f Facts) setUse(status *v1alpha1.WorkspaceStatus, now time.Time) {
	if f.Observed.Failed && meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionInUse) != nil {
		return // nothing new is known
	}
	condition := metav1.Condition{
		Type: v1alpha1.ConditionInUse, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNotRunning, Message: "The workspace does not run.",
		ObservedGeneration: f.Workspace.Generation, LastTransitionTime: *statusconv.Time(now),
	}
	if f.Decision.Status.Phase == lifecycle.Running {
		next := f.Watcher.Next(statusconv.Activity(f.Workspace), now)
		status.LastActivityTime, status.UnusedSince = statusconv.Time(next.Last), statusconv.Time(f.Watcher.Unused(statusconv.Unused(f.Workspace), next))
		condition.Status, condition.Reason, condition.Message = f.use(next.Use)
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

// use returns the status, the reason and the message of InUse.
func (f Facts) use(use lifecycle.Use) (metav1.ConditionStatus, string, string) {
	spec, lasts := &f.Workspace.Spec, span(f.Watcher.Lasts)
	timer := fmt.Sprintf("After %d seconds (spec.standbyTTLSeconds), and without a heartbeat, the workspace is stopped.", spec.StandbyTTLSeconds)
	if spec.StandbyTTLSeconds == 0 {
		timer = "It is not stopped for that, because spec.standbyTTLSeconds is 0."
	}
	switch use {
	case lifecycle.InUse:
		return metav1.ConditionTrue, v1alpha1.ReasonInUse, fmt.Sprintf("It counts as used, and is not stopped as idle, while %s, and for %s afterwards or after its start.", f.signs(true), lasts)
	case lifecycle.Idle:
		return metav1.ConditionFalse, v1alpha1.ReasonIdle, fmt.Sprintf("Not used for %s: %s. %s", lasts, f.signs(false), timer)
	default:
		return metav1.ConditionUnknown, v1alpha1.ReasonNoActivitySource, "Nothing in the Pod tells whether the workspace is used" + f.cause() +
			". The idle timer runs only if something sends heartbeats; without any, the workspace is not stopped."
	}
}

// signs are what is or is not the case.
func (f Facts) signs(used bool) string {
	var all []string
	if objects.WatchesPorts(f.Workspace) {
		connected := "nobody was connected to " + f.ports()
		if used {
			connected = "somebody is connected to " + f.ports()
		}
		all = append(all, connected)
	}
	if percent := f.Workspace.Spec.Activity.CPUPercent; percent > 0 {
		needs := map[bool]string{true: "more than", false: "at most"}[used]
		all = append(all, fmt.Sprintf("the processes need %s %d %% of a CPU", needs, percent))
	}
	if len(all) == 0 { // the Pod is of an earlier spec
		return "its Pod, of an earlier spec, tells so"
	}
	return strings.Join(all, map[bool]string{true: ", or ", false: ", and "}[used])
}

func (f Facts) ports() string {
	var ports []string
	for _, port := range f.Workspace.Spec.Ports {
		ports = append(ports, strconv.Itoa(int(port)))
	}
	if len(ports) == 1 {
		return "port " + ports[0]
	}
	return "ports " + strings.Join(ports, ", ")
}

// cause is why nothing tells.
func (f Facts) cause() string {
	spec := &f.Workspace.Spec
	switch {
	case f.Watcher.NothingListens && len(spec.Ports) > 0:
		return ": nothing listens on " + f.ports() + ", and spec.activity.cpuPercent is not set"
	case objects.WatchesPorts(f.Workspace) || spec.Activity.CPUPercent > 0:
		return ": its Pod was started without the container " + objects.WatcherContainer + ", which it gets at its next start if the manager knows its own image (--mover-image)"
	case len(spec.Ports) == 0:
		return ": spec.ports is empty, and spec.activity.cpuPercent is not set"
	default:
		return ": spec.activity.connections is false, and spec.activity.cpuPercent is not set"
	}
}

// span is a time in words.
func span(d time.Duration) string {
	if d > 0 && d%time.Minute == 0 {
		if d == time.Minute {
			return "a minute"
		}
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}
