package target

import (
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// staysArchived is why a window does not start an archived Workspace; "" if it does (W95).
func staysArchived(in Input, found *Workspace) string {
	if found.State != lifecycle.Pending || in.Desired.Replicas == 0 {
		return ""
	}
	lastUse := schedule.OrStarted(found.LastUse, in.Scaler.Status.Applied, found.UID)
	return schedule.KeepArchived(in.Scaler.Spec.Workspace, lastUse, in.Now)
}

// startedByOthers is when somebody other than a schedule set RUNNING.
func startedByOthers(ws *v1alpha1.Workspace) (at time.Time) {
	if ws.Spec.DesiredState != v1alpha1.DesiredRunning {
		return time.Time{}
	}
	for i := range ws.ManagedFields {
		entry := &ws.ManagedFields[i]
		switch {
		case !targetkind.Owns(entry, targetkind.DesiredStateField):
		case entry.Manager == ScheduleManager:
			return time.Time{}
		case entry.Time != nil && entry.Time.After(at):
			at = entry.Time.Time
		}
	}
	return at
}

// noteStart notes a start by somebody else (W96). One in the future is of another clock, and counts as of now, once for each request
// of the schedule: otherwise each pass would write the status.
func noteStart(applied *v1beta1.Applied, found *Workspace, now time.Time) {
	if applied == nil || applied.TargetUID != string(found.UID) || found.StartedByOthers.IsZero() {
		return
	}
	noted, at := applied.StartedByOthers, wholeSeconds(found.StartedByOthers)
	if at.After(now) {
		if noted != nil && !noted.Before(&applied.At) {
			return
		}
		at = wholeSeconds(now)
	}
	if noted == nil || at.After(noted.Time) {
		applied.StartedByOthers = &at
	}
}

// appliedState is the next status.applied. Of the last one it keeps when somebody else started the Workspace.
func appliedState(in Input, applied lifecycle.Applied, last *v1beta1.Applied) *v1beta1.Applied {
	next := askedNow(in, applied.Edge)
	next.State = string(applied.State)
	if last != nil {
		next.StartedByOthers = last.StartedByOthers.DeepCopy()
	}
	return next
}
