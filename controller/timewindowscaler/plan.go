package timewindowscaler

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// decision is what should be, and what this pass has to do about it.
type decision struct {
	// invalid says what in the spec is invalid; then nothing else is decided (B5).
	invalid string
	// badZone says why the zone is unknown here; then defaultReplicas apply (B5).
	badZone string
	// leftOut says which windows have zones that are unknown here; the others apply without them (B5).
	leftOut string

	verdict timecalc.Verdict
	window  string // status.currentWindow
	metric  extmetric.Decision
	grace   grace
	length  graceLength
	// effective is the replica count that the target should have now, grace included.
	effective int32

	// Decision is what the target's kind decided.
	target.Decision
	// fight is what others did to the count in this occurrence of the window; waiting is true if because
	// of it the target is corrected later.
	fight   contention.Fight
	waiting bool
	// due is the boundary or grace expiry that makes the write due; zero if something else does.
	due time.Time

	nextBoundary time.Time       // zero if none can be computed
	nextChange   timecalc.Change // zero if none can be computed
	// holidaysUntil is how long the dates of a missing ConfigMap apply; zero unless they do.
	holidaysUntil time.Time
	wakeUp        time.Time // zero if none can be computed
}

func (p *decision) desired() target.Desired { return target.Desired{Replicas: p.effective} }

// plan decides. It is the only place that does, and a pure function.
func plan(tws *v1beta1.TimeWindowScaler, obs observation, now time.Time) decision {
	tws = ofThisTarget(tws, obs)
	kind := target.KindOf(tws.Spec.TargetRef)
	reading := schedule.FromSpec(&tws.Spec, field.NewPath("spec"))
	if errs := append(targetErrors(tws, obs.obstacle), reading.Invalid(obs.refused)...); len(errs) > 0 {
		if reading.ZoneError != nil {
			errs = append(errs, reading.ZoneError)
		}
		return decision{invalid: errs.ToAggregate().Error(), Decision: kind.Decide(target.Input{Scaler: tws})}
	}
	calendar := reading.Calendar
	var p decision
	calendar.Holidays, p.holidaysUntil = obs.holidays.at(tws, now)
	if reading.ZoneError != nil {
		p.badZone = reading.ZoneError.Error()
		p.verdict = timecalc.Verdict{Replicas: calendar.DefaultReplicas, Window: -1}
		p.window = timecalc.LabelOffHours
	} else {
		p.leftOut = leftOut(reading.WindowZoneErrors)
		p.evaluate(tws, obs, &reading, &calendar, now)
	}
	p.verdict.Replicas = kind.Limit(p.verdict.Replicas)
	p.applyGrace(tws, obs, &reading, now)
	p.length = lengthOf(p.grace, obs.graceSince, tws)
	if reading.ZoneError == nil {
		p.wakeUp = calendar.NextWakeUp(now, p.grace.expiry)
		if until := p.holidaysUntil; !until.IsZero() && until.Before(p.wakeUp) {
			p.wakeUp = until
		}
		p.forecast(kind, tws, &reading, &calendar, now)
	} else if p.grace.expiry != nil {
		p.wakeUp = *p.grace.expiry
		p.nextChange = timecalc.Change{Time: p.wakeUp, Replicas: p.verdict.Replicas, Known: true}
	}
	p.compare(kind, tws, obs, now, func() time.Time {
		if reading.ZoneError != nil {
			return time.Time{}
		}
		return calendar.Since(now)
	})
	p.due = due(tws, obs, p, now)
	return p
}

// evaluate asks the calendar, and the metric of the window that decides.
func (p *decision) evaluate(tws *v1beta1.TimeWindowScaler, obs observation, reading *schedule.Reading, calendar *timecalc.Calendar, now time.Time) {
	p.verdict = calendar.At(now)
	p.window = calendar.Label(p.verdict)
	p.nextBoundary = calendar.NextEdge(now)
	if p.verdict.Window < 0 || reading.Metrics[p.verdict.Window] == nil {
		return
	}
	p.metric = extmetric.Decide(extmetric.Input{
		Scaler: tws, Target: obs.target, Owned: obs.owner != "",
		Metric: reading.Metrics[p.verdict.Window], Window: p.window, Fallback: p.verdict.Replicas,
		Tolerance: obs.metric.tolerance, Sample: obs.metric.sample, Before: obs.metric.before,
	})
	p.verdict.Replicas = p.metric.Replicas
}

// compare compares the target with what is desired. In a fight the write may have to wait.
func (p *decision) compare(kind target.Kind, tws *v1beta1.TimeWindowScaler, obs observation, now time.Time, since func() time.Time) {
	ours := obs.target
	if obs.owner != "" {
		ours = nil
	}
	p.Decision = kind.Decide(target.Input{
		Scaler: tws, Target: ours, Desired: p.desired(), Settled: wasConverged(tws, obs, p.effective),
		RaiseOnly: p.metric.Hold, InGrace: p.grace.expiry != nil, Since: since, Now: now, UsedUntil: obs.heartbeat.until,
	})
	if !p.Held {
		return
	}
	p.fight = contention.Decide(contention.Input{
		Scaler: tws, Target: ours, Window: p.window, Desired: p.desired(), ByMetric: p.metric.Window != "",
		Drift: p.Drift, Before: obs.fight.before, Rival: obs.fight.rival,
	}, now)
	p.waiting = p.Write && p.fight.Rewritten && now.Before(p.fight.Due()) && !obs.fight.enforce
	if p.waiting {
		p.Write, p.Drift = false, false
	}
}

// targetErrors rejects targets that must not be scaled (R5, A3).
// Admission does too, but webhooks can be down, and a kind can change.
func targetErrors(tws *v1beta1.TimeWindowScaler, obstacle error) field.ErrorList {
	var errs field.ErrorList
	reference, path := tws.Spec.TargetRef, field.NewPath("spec", "targetRef")
	if unscalable := (*targetkind.NotScalableError)(nil); errors.As(obstacle, &unscalable) {
		errs = append(errs, field.Invalid(path.Child("kind"), reference.Kind, unscalable.Error()))
	}
	if err := schedule.NamespaceError(tws, path); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// leftOut says in one line why windows are ignored; "" if none is.
func leftOut(zoneErrors field.ErrorList) string {
	switch len(zoneErrors) {
	case 0:
		return ""
	case 1:
		return zoneErrors[0].Error() + "; this window is ignored"
	default:
		return fmt.Sprintf("%v; this window is ignored, %d windows in all", zoneErrors[0], len(zoneErrors))
	}
}

// wasConverged reports whether the target was as it should be, or on its way there, for this very spec, so
// that a difference now is drift. It is not drift if the target comes back, a pause ends or a write was
// refused; it is if a rival holds the target while a correction waits.
func wasConverged(tws *v1beta1.TimeWindowScaler, obs observation, effective int32) bool {
	status := &tws.Status
	if status.EffectiveReplicas == nil || *status.EffectiveReplicas != effective || status.ObservedGeneration != tws.Generation {
		return false
	}
	degraded := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionDegraded)
	return meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReady) ||
		meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReconciling) ||
		obs.fight.before.Rewritten || degraded != nil && degraded.Reason == v1beta1.ReasonFieldFight
}

// due returns the instant that made p's write due, if it was the passing of time. It stays the same while the write
// fails, and while the target cannot be read.
func due(tws *v1beta1.TimeWindowScaler, obs observation, p decision, now time.Time) time.Time {
	status := &tws.Status
	switch {
	case !p.Write && obs.unavailable == nil || p.Drift || status.ObservedGeneration != tws.Generation:
		return time.Time{}
	case p.grace.ended:
		return p.grace.end
	case status.NextBoundary != nil && !status.NextBoundary.After(now) && (obs.overdue.IsZero() || ptr.Deref(status.EffectiveReplicas, -1) != p.effective):
		return status.NextBoundary.Time
	default:
		return obs.overdue
	}
}
