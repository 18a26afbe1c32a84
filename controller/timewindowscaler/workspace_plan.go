package timewindowscaler

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// A Workspace has several who decide when it runs: its user, its idle timers and its schedule. So the
// schedule speaks once at each of its edges, and lets the others have their way in between; every other
// target is held to its count all the time.

// drive is what is decided about a Workspace.
type drive struct {
	// applied is what the status is to remember once the plan is carried out; nil if that stays as it is.
	applied *v1beta1.AppliedState
	// left: somebody else decided otherwise since the last edge, and that stands until the next.
	left bool
	// skipped: only the pause keeps the schedule from asking.
	skipped bool
}

// decideWorkspace is decideWrite for a Workspace.
func (p *plan) decideWorkspace(tws *v1beta1.TimeWindowScaler, obs observation, now time.Time) {
	if obs.target == nil || obs.owner != "" {
		return
	}
	before := appliedTo(tws, obs.target)
	in := lifecycle.EdgeInput{Replicas: p.effective, Desired: obs.target.session.desired, Applied: remembered(before)}
	in.Edge = p.edge(in.Applied)
	if how := tws.Spec.Workspace; how != nil {
		in.Enforce, in.KeepArchived = how.Enforce, how.KeepArchived
	}
	decided := lifecycle.DecideEdge(in)
	p.drive.skipped = decided.Write && tws.Spec.Pause
	p.drive.left = !decided.Write && in.Desired != stateOf(p.effective)
	p.write = decided.Write && !tws.Spec.Pause
	p.drift = p.write && decided.Applied == in.Applied
	if tws.Spec.Pause || decided.Applied == in.Applied {
		return
	}
	p.drive.applied = &v1beta1.AppliedState{State: string(decided.Applied.State), At: *timePointer(now), TargetUID: string(obs.target.uid)}
	if since, err := time.Parse(time.RFC3339, decided.Applied.Edge); err == nil {
		p.drive.applied.Edge = timePointer(since)
	}
}

// edge names the instance of the window, or of the time between windows, that p goes by. While a grace
// period runs it is the one before. Where nothing began for a month, it is still what was applied, unless
// that was another state.
func (p *plan) edge(applied lifecycle.Applied) string {
	switch {
	case p.grace.expiry != nil:
		return applied.Edge
	case !p.since.IsZero():
		return edgeName(p.since)
	case applied.State == stateOf(p.effective):
		return applied.Edge
	default:
		return ""
	}
}

func edgeName(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// appliedTo is what the target was last asked for; nil if it was not yet.
func appliedTo(tws *v1beta1.TimeWindowScaler, t *target) *v1beta1.AppliedState {
	if applied := tws.Status.Applied; applied != nil && applied.TargetUID == string(t.uid) {
		return applied.DeepCopy()
	}
	return nil
}

func remembered(applied *v1beta1.AppliedState) lifecycle.Applied {
	if applied == nil {
		return lifecycle.Applied{}
	}
	known := lifecycle.Applied{State: lifecycle.State(applied.State)}
	if applied.Edge != nil {
		known.Edge = edgeName(applied.Edge.Time)
	}
	return known
}

// applied is what the status should say of what the Workspace was asked for. What could not be written was
// not.
func (s *situation) applied() *v1beta1.AppliedState {
	switch {
	case !isWorkspace(s.tws):
		return nil
	case s.plan.drive.applied == nil || s.plan.write && !s.outcome.scaled:
		return s.tws.Status.Applied.DeepCopy()
	default:
		return s.plan.drive.applied.DeepCopy()
	}
}

// sameApplied compares to the second, as the API stores it.
func sameApplied(a, b *v1beta1.AppliedState) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.State == b.State && a.TargetUID == b.TargetUID && sameTime(a.Edge, b.Edge) && sameTime(&a.At, &b.At)
}

func sameTime(a, b *metav1.Time) bool { return a.Equal(b) }
