package timewindowscaler

import (
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// grace is what the grace period does in this pass; expiry is nil unless one runs. end is when the one ended
// that has ended. unforeseen: nothing but the status can tell when the one will end that has started.
type grace struct {
	expiry                                *time.Time
	started, cancelled, ended, unforeseen bool
	end                                   time.Time
}

// ofThisTarget returns the scaler without what its status says about the counts of another target: each target
// has a first decision (B15).
func ofThisTarget(tws *v1beta1.TimeWindowScaler, obs observation) *v1beta1.TimeWindowScaler {
	status := &tws.Status
	if obs.target == nil || status.EffectiveReplicas == nil || schedule.OfTarget(status, obs.target.Base().UID) {
		return tws
	}
	tws = tws.DeepCopy()
	tws.Status.EffectiveReplicas, tws.Status.GracePeriodExpiry = nil, nil
	return tws
}

// applyGrace delays a decrease (B2). The very first decision has no grace period. While a metric's first
// value is awaited the count in force stays, and so does a grace period.
func (p *decision) applyGrace(tws *v1beta1.TimeWindowScaler, obs observation, reading *schedule.Reading, now time.Time) {
	status, running := &tws.Status, tws.Status.GracePeriodExpiry
	if p.metric.Hold {
		p.effective = extmetric.CurrentCount(tws, obs.target)
		if running != nil {
			p.grace.expiry = &running.Time
		}
		return
	}
	p.effective = p.verdict.Replicas
	if status.EffectiveReplicas == nil {
		return
	}
	kept := p.kept(*status.EffectiveReplicas, obs)
	if kept <= p.effective {
		p.grace.cancelled = running != nil && p.effective >= *status.EffectiveReplicas
		return
	}
	end, foreseen := reading.GraceEnd(tws, kept, now)
	p.effective, p.grace.expiry = timecalc.ApplyGracePeriod(kept, p.effective, tws.Spec.GracePeriodSeconds, &end, now)
	if p.grace.expiry == nil {
		p.grace.ended, p.grace.end = running != nil || tws.Spec.GracePeriodSeconds > 0, end
		return
	}
	p.grace.started = running == nil
	p.grace.unforeseen = p.grace.started && !foreseen
}

// kept is the count that a grace period keeps. There is nothing to keep of a target that is gone.
func (p *decision) kept(inForce int32, obs observation) int32 {
	switch {
	case obs.target == nil && obs.obstacle == nil:
		return p.verdict.Replicas
	case obs.target == nil:
		return inForce
	default:
		return schedule.Kept(inForce, obs.target.Base().Spec, obs.target.AsksFor(target.Desired{Replicas: inForce}))
	}
}
