package workspaces

import (
	"fmt"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// runs reports whether a Workspace is to run.
func runs(ws *v1alpha1.Workspace) bool {
	return ws.DeletionTimestamp == nil && ws.Spec.DesiredState == v1alpha1.DesiredRunning
}

// Ended says why a Workspace that was opened does not run any more, and how it continues; nil if it is to run (W108). It is pure.
func Ended(ws *v1alpha1.Workspace, schedules []v1beta1.TimeWindowScaler) error {
	name := ws.Namespace + "/" + ws.Name
	if ws.DeletionTimestamp != nil {
		return Unreached(fmt.Sprintf("workspace %s is being deleted", name))
	}
	if runs(ws) {
		return nil
	}
	stopped, how := "was stopped", "starts it again"
	if ws.Spec.DesiredState == v1alpha1.DesiredPending {
		stopped, how = "was stopped, and its home is archived", "restores its home and starts it again"
	}
	by := writer(ws)
	switch by {
	case itsIdleTimer:
		by += fmt.Sprintf(" found that nobody had used it for %d seconds (spec.standbyTTLSeconds), and", ws.Spec.StandbyTTLSeconds)
	case itsSchedule:
		if of := schedulesOf(ws, schedules); len(of) == 1 {
			by = "TimeWindowScaler " + of[0].Name
		}
	}
	return Unreached(fmt.Sprintf("workspace %s %s: %s set spec.desiredState to %s; kyklos workspace open %s -n %s %s",
		name, stopped, by, ws.Spec.DesiredState, ws.Name, ws.Namespace, how))
}
