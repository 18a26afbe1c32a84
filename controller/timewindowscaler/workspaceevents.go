package timewindowscaler

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/lifecycle"
)

// noticeAhead is how long before a schedule stops a Workspace its user is told.
const noticeAhead = 15 * time.Minute

// stopsAt is when the schedule will stop the Workspace that runs; zero if it will not, or that is not known.
func (p *passResult) stopsAt() time.Time {
	ws, ok := p.outcome.target.(*target.Workspace)
	next := p.plan.nextChange
	if !ok || ws.State != lifecycle.Running || p.obs.owner != "" || p.tws.Spec.Pause || p.plan.effective == 0 || !next.Known || next.Replicas > 0 {
		return time.Time{}
	}
	return next.Time
}

// noticeDue is when the user is to be told; zero if that time has come.
func (p *passResult) noticeDue() time.Time {
	at := p.stopsAt()
	if at.IsZero() || !at.Add(-noticeAhead).After(p.now) {
		return time.Time{}
	}
	return at.Add(-noticeAhead)
}

// looksAgain is when the heartbeat counts no more for which a stop waits; zero if it waits for none.
func (p *passResult) looksAgain() time.Time {
	if !p.plan.WaitsForIdle || !p.obs.heartbeat.until.After(p.now) {
		return time.Time{}
	}
	return p.obs.heartbeat.until
}

// strict reports whether a Workspace is stopped although somebody uses it.
func strict(tws *v1beta1.TimeWindowScaler) bool {
	return tws.Spec.Workspace != nil && tws.Spec.Workspace.StopWhileInUse
}

// beginsToWait reports whether this pass is the first that waits for the Workspace to be idle.
func (p *passResult) beginsToWait() bool {
	before := meta.FindStatusCondition(p.tws.Status.Conditions, v1beta1.ConditionReady)
	return p.plan.WaitsForIdle && (before == nil || before.Reason != v1beta1.ReasonTargetInUse)
}

func (p *passResult) stopWaits() events.Event {
	return events.EmitStopWaits(p.tws.Name, p.tws.Spec.TargetRef.Name, p.plan.Edge)
}

// workspaceEvents are those on the Workspace, which name the schedule. noticed is the stop that its user was told of.
func (p *passResult) workspaceEvents(noticed *time.Time) (evs []events.Event) {
	if p.beginsToWait() {
		evs = append(evs, p.stopWaits())
	}
	if _, ok := p.obs.target.(*target.Workspace); ok && p.outcome.scaled {
		d := p.obs.target.Describe(p.plan.desired())
		evs = append(evs, events.EmitSetBySchedule(p.tws.Name, d.Current, d.Desired, p.why()))
	}
	if at := p.stopsAt(); !at.IsZero() && !p.now.Before(at.Add(-noticeAhead)) && !noticed.Equal(at) {
		*noticed = at
		evs = append(evs, events.EmitStopScheduled(p.tws.Name, at, strict(p.tws)))
	}
	return evs
}

// tellWorkspace sends the events on the Workspace.
func (r *Reconciler) tellWorkspace(p *passResult, state *scalerState) {
	evs := p.workspaceEvents(&state.noticed)
	if len(evs) == 0 || p.obs.target == nil {
		return
	}
	r.Events.Send(&v1alpha1.Workspace{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Workspace"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.tws.Namespace, Name: p.tws.Spec.TargetRef.Name, UID: p.obs.target.Base().UID},
	}, evs...)
}
