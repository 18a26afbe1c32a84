package timewindowscaler

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/schedule"
)

// A Workspace has a desired state instead of replicas, and what is said of it names states.

func (s *situation) wantedState() string { return string(stateOf(s.plan.effective)) }

func (s *situation) workspaceAligned() string {
	if s.plan.drive.left {
		return fmt.Sprintf("Target is left in %s, as somebody else asked for; the next window boundary decides anew (%s)",
			s.outcome.target.session.desired, s.why())
	}
	return fmt.Sprintf("Target is %s as desired (%s)", s.wantedState(), s.why())
}

func (s *situation) workspacePaused() string {
	if s.plan.drive.skipped {
		return fmt.Sprintf("Target is to be %s but desired is %s (pause=true)", s.outcome.target.session.desired, s.wantedState())
	}
	return s.workspaceUnderWay()
}

func (s *situation) workspaceUnderWay() string {
	return fmt.Sprintf("Target is not %s yet (%s); see its own conditions", s.wantedState(), s.why())
}

func (s *situation) workspaceBringing() string {
	return fmt.Sprintf("Bringing the target to %s (%s)", s.wantedState(), s.why())
}

func (s *situation) desiredEvent() events.Event {
	return events.EmitDesired(string(s.obs.target.session.desired), s.wantedState(), s.plan.effective > 0, s.cause())
}

// skippedByPause reports that only the pause keeps Kyklos from writing.
func (s *situation) skippedByPause() bool {
	if isWorkspace(s.tws) {
		return s.plan.drive.skipped
	}
	return s.tws.Spec.Pause && s.obs.target != nil && !s.obs.target.asksFor(s.plan.effective)
}

func (s *situation) graceOfWorkspace() []events.Event {
	switch {
	case s.plan.grace.started:
		return []events.Event{events.EmitStopHeld(s.tws.Spec.GracePeriodSeconds)}
	case s.plan.grace.cancelled:
		return []events.Event{events.EmitStopCancelled()}
	default:
		return nil
	}
}

// countAboveOne names the first count of a new spec that a Workspace cannot have; "" if there is none.
func (s *situation) countAboveOne() string {
	spec := &s.tws.Spec
	if !isWorkspace(s.tws) || s.plan.invalid != "" || s.tws.Status.ObservedGeneration == s.tws.Generation {
		return ""
	}
	first, more, path := "", 0, field.NewPath("spec")
	look := func(place *field.Path, written intstr.IntOrString) {
		count, err := schedule.Count(written, spec.BaselineReplicas)
		switch {
		case err != nil || count <= 1:
		case first == "":
			first = fmt.Sprintf("%s: a Workspace runs or is stopped: %d means the same as 1", place, count)
		default:
			more++
		}
	}
	look(path.Child("defaultReplicas"), spec.DefaultReplicas)
	for i := range spec.Windows {
		look(path.Child("windows").Index(i).Child("replicas"), spec.Windows[i].Replicas)
	}
	if more > 0 {
		return fmt.Sprintf("%s; there are others: %d in all", first, more+1)
	}
	return first
}
