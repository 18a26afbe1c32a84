package workspaces

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// writers are the field managers of Kyklos that write spec.desiredState, as people know them.
var writers = map[string]string{"kyklos-schedule": "its schedule", "kyklos-ttl": "its idle timer", FieldManager: "another kyklos workspace command"}

// writer is who wrote spec.desiredState last.
func writer(ws *v1alpha1.Workspace) string {
	last, at := "somebody else", time.Time{}
	for i := range ws.ManagedFields {
		entry := &ws.ManagedFields[i]
		if !targetkind.Owns(entry, targetkind.DesiredStateField) {
			continue
		}
		if entry.Time != nil && entry.Time.Time.Before(at) {
			continue
		}
		if entry.Time != nil {
			at = entry.Time.Time
		}
		last = fmt.Sprintf("the field manager %q", entry.Manager)
		if known := writers[entry.Manager]; known != "" {
			last = known
		}
	}
	return last
}

// Schedules says, about each schedule that also sets the Workspace's state, what it does to the state that a person sets now. It is
// pure.
func Schedules(ws *v1alpha1.Workspace, want v1alpha1.DesiredState, all []v1beta1.TimeWindowScaler) (notes []string) {
	for i := range all {
		tws := &all[i]
		ref := tws.Spec.TargetRef
		if tws.Namespace != ws.Namespace || targetkind.Of(ref) != targetkind.Workspace.GroupVersionKind || ref.Name != ws.Name ||
			tws.Spec.Pause || tws.DeletionTimestamp != nil {
			continue
		}
		note := fmt.Sprintf("TimeWindowScaler %s also sets the state of Workspace %s", tws.Name, ws.Name)
		now, enforced := tws.Status.EffectiveReplicas, schedule.DriftPolicy(&tws.Spec) == v1beta1.DriftEnforce
		keepsArchived := tws.Spec.Workspace != nil && tws.Spec.Workspace.KeepArchived
		if enforced && now != nil && asked(*now) != want && (!keepsArchived || *now == 0 || want != v1alpha1.DesiredPending) {
			notes = append(notes, fmt.Sprintf("%s, with spec.driftPolicy Enforce: it sets it back to %s at once; pause it with spec.pause", note, asked(*now)))
			continue
		}
		notes = append(notes, note+next(tws))
	}
	return notes
}

// asked is the state that a count of a schedule stands for.
func asked(replicas int32) v1alpha1.DesiredState {
	if replicas > 0 {
		return v1alpha1.DesiredRunning
	}
	return v1alpha1.DesiredStandby
}

// next is what a schedule does next.
func next(tws *v1beta1.TimeWindowScaler) string {
	change := tws.Status.NextChange
	if change == nil || change.Replicas == nil {
		return ", and changes nothing within the next month"
	}
	zone, err := timecalc.LoadZone(tws.Spec.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return fmt.Sprintf(": to %s at %s", asked(*change.Replicas), change.Time.In(zone).Format("Mon 2006-01-02 15:04 MST"))
}
