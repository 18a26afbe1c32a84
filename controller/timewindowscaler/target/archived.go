package target

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

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
func noteStart(applied *v1beta1.AppliedState, found *Workspace, now time.Time) {
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

// appliedState is the next status.applied. Of the one before it keeps when somebody else started the same Workspace.
func appliedState(applied lifecycle.Applied, now time.Time, uid types.UID, before *v1beta1.AppliedState) *v1beta1.AppliedState {
	next := &v1beta1.AppliedState{State: string(applied.State), At: wholeSeconds(now), TargetUID: string(uid)}
	if since, err := time.Parse(time.RFC3339, applied.Edge); err == nil {
		at := wholeSeconds(since)
		next.Edge = &at
	}
	if before != nil && before.TargetUID == next.TargetUID {
		next.StartedByOthers = before.StartedByOthers.DeepCopy()
	}
	return next
}
