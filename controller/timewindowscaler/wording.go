package timewindowscaler

import (
	"errors"
	"fmt"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/targetkind"
)

// A DaemonSet has no replicas: it is suspended or runs, and what is said of it says so.

func (s *situation) isDaemonSet() bool {
	return targetkind.Of(s.tws.Spec.TargetRef) == targetkind.DaemonSet.GroupVersionKind
}

// switched chooses between the words about a DaemonSet that should be suspended and one that should run.
func (s *situation) switched(suspended, running string) string {
	if s.plan.effective == 0 {
		return suspended
	}
	return running
}

func (s *situation) alignedMessage() string {
	if isWorkspace(s.tws) {
		return s.workspaceAligned()
	}
	if s.isDaemonSet() {
		return fmt.Sprintf("Target is %s as desired (%s)", s.switched("suspended", "running"), s.why())
	}
	return fmt.Sprintf("Target has the desired %d replicas (%s)", s.plan.effective, s.why())
}

func (s *situation) pausedMessage() string {
	if isWorkspace(s.tws) {
		return s.workspacePaused()
	}
	if s.isDaemonSet() {
		return fmt.Sprintf("Target is %s but desired is %s (pause=true)", s.outcome.target.state(), s.switched("suspended", "running"))
	}
	return fmt.Sprintf("Target has %d replicas but desired is %d (pause=true)", s.outcome.target.observedReplicas, s.plan.effective)
}

func (s *situation) underWayMessage() string {
	if isWorkspace(s.tws) {
		return s.workspaceUnderWay()
	}
	if s.isDaemonSet() {
		return fmt.Sprintf("Target is not %s yet (%s)", s.switched("suspended", "running"), s.why())
	}
	return fmt.Sprintf("Target does not have the desired %d replicas yet (%s)", s.plan.effective, s.why())
}

func (s *situation) waitingMessage() string {
	const rest = "somebody else sets it again and again, and Kyklos corrects it ever less often, in the end every 5 minutes; see Degraded"
	if s.isDaemonSet() {
		return fmt.Sprintf("Target is not %s (%s): %s", s.switched("suspended", "running"), s.why(), rest)
	}
	return fmt.Sprintf("Target does not have the desired count of %d (%s): %s", s.plan.effective, s.why(), rest)
}

func (s *situation) bringingMessage() string {
	if isWorkspace(s.tws) {
		return s.workspaceBringing()
	}
	if s.isDaemonSet() {
		return fmt.Sprintf("%s (%s)", s.switched("Suspending the target", "Letting the target run"), s.why())
	}
	return fmt.Sprintf("Bringing the target to %d replicas (%s)", s.plan.effective, s.why())
}

// missingMessage says that the target does not exist, or that not even its kind does.
func (s *situation) missingMessage() string {
	reference := s.tws.Spec.TargetRef
	message := fmt.Sprintf("Target %s %s/%s not found", reference.Kind, s.tws.Namespace, reference.Name)
	if s.obs.obstacle != nil {
		message += ": " + s.obs.obstacle.Error()
	}
	return message
}

// forbidden is the missing permission for the target's kind; nil without one.
func (s *situation) forbidden() *targetkind.ForbiddenError {
	var forbidden *targetkind.ForbiddenError
	errors.As(s.obs.obstacle, &forbidden)
	return forbidden
}

func (s *situation) scaledEvent() events.Event {
	if isWorkspace(s.tws) {
		return s.desiredEvent()
	}
	if s.isDaemonSet() {
		return events.EmitSwitch(s.plan.effective == 0, s.cause())
	}
	return events.EmitScale(s.outcome.from, s.plan.effective, s.cause())
}

func (s *situation) skippedEvent(why string) events.Event {
	if isWorkspace(s.tws) {
		return events.EmitDesiredSkipped(string(s.obs.target.session.desired), s.wantedState(), why)
	}
	if s.isDaemonSet() {
		return events.EmitSwitchSkipped(s.obs.target.state(), s.switched("suspended", "running"), why)
	}
	return events.EmitScalingSkipped(s.obs.target.specReplicas, s.plan.effective, why)
}

// graceOfDaemonSet words the grace period of a DaemonSet: one before a lower count that is not 0
// changes nothing, and is not worth an event.
func (s *situation) graceOfDaemonSet() []events.Event {
	switch {
	case s.plan.grace.started && s.plan.verdict.Replicas == 0:
		return []events.Event{events.EmitSuspensionHeld(s.tws.Spec.GracePeriodSeconds)}
	case s.plan.grace.cancelled:
		return []events.Event{events.EmitSuspensionCancelled()}
	default:
		return nil
	}
}

// state is what a DaemonSet does, in a word.
func (t *target) state() string {
	switch d := t.daemons; {
	case d.free && d.arrived:
		return "running"
	case d.free:
		return "starting"
	case t.observedReplicas > 0:
		return "being suspended"
	default:
		return "suspended"
	}
}
