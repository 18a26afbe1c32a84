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
		condition.Status, condition.Reason, condition.Message = f.use(next.Use, now)
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

// use returns the status, the reason and the message of InUse. They are about what the Pod watches, which may be of an earlier spec
// (W103).
func (f Facts) use(use lifecycle.Use, now time.Time) (metav1.ConditionStatus, string, string) {
	lasts := span(f.Watcher.Lasts)
	switch use {
	case lifecycle.InUse:
		text := fmt.Sprintf("It counts as used, and is not stopped as idle, while %s, and for %s afterwards or after its start.", f.signs(true), lasts)
		if !f.Watcher.Answers(now) {
			text = join(text, "The container "+objects.WatcherContainer+" does not answer; until it does, the workspace counts as used.")
		}
		return metav1.ConditionTrue, v1alpha1.ReasonInUse, join(text, f.changed())
	case lifecycle.Idle:
		timer := fmt.Sprintf("After %d seconds (spec.standbyTTLSeconds), and without a heartbeat, the workspace is stopped.", f.Workspace.Spec.StandbyTTLSeconds)
		if f.Workspace.Spec.StandbyTTLSeconds == 0 {
			timer = "It is not stopped for that, because spec.standbyTTLSeconds is 0."
		}
		return metav1.ConditionFalse, v1alpha1.ReasonIdle, join(fmt.Sprintf("Not used for %s: %s.", lasts, f.signs(false)), timer, f.changed())
	default:
		return metav1.ConditionUnknown, v1alpha1.ReasonNoActivitySource, join("Nothing in the Pod tells whether the workspace is used: "+f.cause()+".", f.changed(),
			"The idle timer runs only if something sends heartbeats; without any, only a schedule or a person stops the workspace.")
	}
}

// signs are what is or is not the case.
func (f Facts) signs(used bool) string {
	var all []string
	if len(f.Watches.Ports) > 0 {
		connected := "nobody was connected to "
		if used {
			connected = "somebody is connected to "
		}
		all = append(all, connected+portsText(f.Watches.Ports))
	}
	if percent := f.Watches.CPUPercent; percent > 0 {
		needs := map[bool]string{true: "more than", false: "at most"}[used]
		all = append(all, fmt.Sprintf("the processes need %s %d %% of a CPU", needs, percent))
	}
	return strings.Join(all, map[bool]string{true: ", or ", false: ", and "}[used])
}

// changed says that the spec counts something else than the Pod watches.
func (f Facts) changed() string {
	if !f.Watcher.Exists || f.Watches.Same(objects.WatchesOf(&f.Workspace.Spec)) {
		return ""
	}
	return "spec.ports or spec.activity has changed since the Pod was started, which applies at its next start."
}

func portsText(all []int32) string {
	var ports []string
	for _, port := range all {
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
	case f.Watcher.NothingListens && spec.Activity.CPUPercent > 0:
		return "nothing listens on " + portsText(f.Watches.Ports)
	case f.Watcher.NothingListens:
		return "nothing listens on " + portsText(f.Watches.Ports) + ", and spec.activity.cpuPercent is not set"
	case f.Watcher.Exists && objects.WatchesOf(spec).None():
		return "the Pod does not see a use (" + f.signs(false) + "), but by the spec that does not count any more"
	case f.Watcher.Exists:
		return "the Pod does not see a use (" + f.signs(false) + "), but by the spec something else counts"
	case !objects.WatchesOf(spec).None():
		return "its Pod was started without the container " + objects.WatcherContainer + ", which it gets at its next start if the manager knows its own image (--mover-image)"
	case len(spec.Ports) == 0:
		return "spec.ports is empty, and spec.activity.cpuPercent is not set"
	default:
		return "spec.activity.connections is false, and spec.activity.cpuPercent is not set"
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
