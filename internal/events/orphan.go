package events

import "fmt"

// EmitLeftSuspended reports that a DaemonSet is suspended and nothing will resume it.
func EmitLeftSuspended(name string) Event {
	return warning(ReasonLeftSuspended, "LeaveSuspended", fmt.Sprintf(
		"DaemonSet %[1]s is suspended, and no TimeWindowScaler scales it any more: to resume it, run: kubectl patch daemonset %[1]s --type=merge -p "+
			`'{"spec":{"template":{"spec":{"nodeSelector":{"kyklos.io/suspended":null}}}}}'`, name))
}

// EmitResumedAfterDeletion reports that a DaemonSet was resumed because its scaler is gone.
func EmitResumedAfterDeletion() Event {
	return normal(ReasonScaledUp, "Resume", "DaemonSet resumed: its TimeWindowScaler was deleted, with deletionPolicy Resume")
}
