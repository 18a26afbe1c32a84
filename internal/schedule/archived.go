package schedule

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// archivedDays is spec.workspace.keepArchivedAfterDays if it is not set: who is there on one day of the week is not away.
const archivedDays = 7

// ArchivedDays is after how many days without use a schedule leaves an archived Workspace archived (W95); 0 for never.
func ArchivedDays(how *v1beta1.WorkspaceDrive) int32 {
	if how == nil {
		return archivedDays
	}
	return ptr.Deref(how.KeepArchivedAfterDays, archivedDays)
}

// LastUse is when a Workspace was last used, by its status (W96): its last activity. Where none was ever reported, it is when it
// last ran or, once that is no longer known, when it was archived. Zero if it was never used.
func LastUse(ws *v1alpha1.WorkspaceStatus) time.Time {
	if !ws.LastActivityTime.IsZero() {
		return ws.LastActivityTime.Time
	}
	seen := []*metav1.Time{ws.RunningSince, ws.StandbySince}
	if ws.Archive != nil {
		seen = append(seen, ws.Archive.CompletedAt)
	}
	var last time.Time
	for _, at := range seen {
		if !at.IsZero() && at.After(last) {
			last = at.Time
		}
	}
	return last
}

// OrStarted is the later one of the last use and of the last start by somebody other than a schedule (W96).
func OrStarted(lastUse time.Time, applied *v1beta1.Applied, uid types.UID) time.Time {
	if applied != nil && applied.TargetUID == string(uid) && !applied.StartedByOthers.IsZero() && applied.StartedByOthers.After(lastUse) {
		return applied.StartedByOthers.Time
	}
	return lastUse
}

// KeepArchived is why a schedule leaves an archived Workspace archived that was last used at a time, zero for never; "" if it
// does not (W95).
func KeepArchived(how *v1beta1.WorkspaceDrive, lastUse, now time.Time) string {
	const restore = "; to restore it, set spec.desiredState of the Workspace to RUNNING"
	days := ArchivedDays(how)
	switch {
	case how != nil && how.KeepArchived:
		return "spec.workspace.keepArchived is true" + restore
	case days == 0 || lastUse.IsZero() || now.Sub(lastUse) <= time.Duration(days)*24*time.Hour:
		return ""
	}
	return fmt.Sprintf("it was not used since %s, for more than %d days (spec.workspace.keepArchivedAfterDays)%s, and the schedule starts it again",
		lastUse.UTC().Format(time.RFC3339), days, restore)
}
