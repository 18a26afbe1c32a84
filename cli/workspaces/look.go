// Package workspaces sets the desired state of a Workspace, follows it until it is reached, and forwards a port of its Pod.
package workspaces

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/cli/manifest"
)

// Unreached is the error of a Workspace that does not reach its desired state, or not in time.
type Unreached string

func (u Unreached) Error() string { return string(u) }

// ExitCode is that of a command which ended well, with another result than it was asked for.
func (Unreached) ExitCode() int { return 1 }

// View is what people are told about a Workspace on its way to a state.
type View struct {
	// Reached: it is in the state, and Step is the state as shown to people.
	Reached bool
	// Step is what is being done, such as ARCHIVING, or WAITING.
	Step string
	// Text is how far that is; "" if that is not known.
	Text string
	// Percent is how much of it is done; 0 if that is not known.
	Percent int
	// Why is what keeps it waiting or fails, as the reason and the message of Ready; "" if nothing does.
	Why string
	// Later is what Ready says of a step that is under way: no more than Step, unless that takes long.
	Later string
	// Unseen: its status is about an earlier spec.
	Unseen bool
}

// Look judges a Workspace of which a state was desired. The error says why the state will not be reached without help. It is pure.
func Look(ws *v1alpha1.Workspace, want v1alpha1.DesiredState) (View, error) {
	name, status := ws.Namespace+"/"+ws.Name, &ws.Status
	if ws.DeletionTimestamp != nil {
		return View{}, Unreached(fmt.Sprintf("workspace %s is being deleted", name))
	}
	if ws.Spec.DesiredState != want {
		return View{}, Unreached(fmt.Sprintf("workspace %s is now to be %s instead of %s: %s set spec.desiredState", name, ws.Spec.DesiredState, want, writer(ws)))
	}
	current, idle := status.ObservedGeneration >= ws.Generation, status.Operation == nil || status.Operation.Type == v1alpha1.OperationNone
	if current && idle && status.Phase == v1alpha1.Phase(want) {
		return View{Reached: true, Step: status.DisplayState}, nil
	}
	if ws.Spec.Pause {
		return View{}, Unreached(fmt.Sprintf("workspace %s is paused: Kyklos changes nothing until spec.pause is false", name))
	}
	if current && status.Phase == v1alpha1.PhaseError {
		return View{}, Unreached(fmt.Sprintf("workspace %s is in ERROR: %s", name, message(ws)))
	}
	view := View{Step: "WAITING", Unseen: !current}
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if ready != nil && (current || ready.ObservedGeneration >= ws.Generation) {
		view.Unseen = false
		said := manifest.Printable(ready.Reason + ": " + ready.Message)
		switch {
		case ready.Status == metav1.ConditionTrue:
		case ordinary[ready.Reason]:
			view.Later = said
		default:
			view.Why = said
		}
	}
	if current && !idle {
		view.Step, view.Text, view.Percent = string(status.Operation.Type), manifest.Printable(status.Operation.Progress), int(status.Operation.ProgressPercent)
	}
	return view, nil
}

// ordinary are the reasons of an operation that is under way, whose messages say no more than its name, at first.
var ordinary = map[string]bool{
	v1alpha1.ReasonConverged: true, v1alpha1.ReasonClaimed: true, v1alpha1.ReasonWorking: true, v1alpha1.ReasonFinished: true,
	v1alpha1.ReasonObserved: true, v1alpha1.ReasonPodNotReady: true, v1alpha1.ReasonPodGone: true, v1alpha1.ReasonVolumeAbsent: true,
	v1alpha1.ReasonVolumePending: true, v1alpha1.ReasonVolumeTerminating: true, v1alpha1.ReasonJobEnding: true, v1alpha1.ReasonArchiveReady: true,
}

// message is what the Workspace says about itself: why it is not Ready.
func message(ws *v1alpha1.Workspace) string {
	if ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Message != "" {
		return manifest.Printable(ready.Message)
	}
	if ws.Status.Error != nil {
		return manifest.Printable(ws.Status.Error.Message)
	}
	return "it does not say why"
}
