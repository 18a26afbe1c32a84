package timewindowscaler

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// plan is what should be, and what this pass has to do about it.
type plan struct {
	// invalid says what in the spec cannot be followed; then nothing else is decided (B5).
	invalid string
	// badZone says why the zone is unknown here; then defaultReplicas apply (B5).
	badZone string
	// leftOut says which windows have zones that are unknown here; the others go on without them (B5).
	leftOut string

	verdict timecalc.Verdict
	window  string // status.currentWindow
	metric  metricDecision
	grace   grace
	// since is the edge that the verdict goes back to, for a Workspace; zero if that is long ago.
	since time.Time
	drive drive
	// effective is the replica count that the target should have now, grace included.
	effective int32

	// write is true if the target has to be changed to effective.
	write bool
	// drift: the write sets right what others changed.
	drift bool
	// fight is what others did to the count in this window; waiting is true if because of it the target
	// is corrected later.
	fight   fight
	waiting bool
	// due is the boundary or grace expiry that makes the write due; zero if something else does.
	due time.Time

	nextBoundary time.Time // zero if none can be computed
	wakeUp       time.Time // zero if none can be computed
}

// grace is what the grace period does in this pass; expiry is nil unless one runs.
type grace struct {
	expiry                    *time.Time
	started, cancelled, ended bool
}

// makePlan decides. It is the only place that does, and a pure function.
func makePlan(tws *v1beta1.TimeWindowScaler, obs observation, now time.Time) plan {
	reading := schedule.FromSpec(&tws.Spec, field.NewPath("spec"))
	errs := append(targetErrors(tws, obs.obstacle), reading.WindowErrors...)
	if errs = append(errs, schedule.MetricErrors(&tws.Spec, field.NewPath("spec"))...); len(errs) > 0 {
		if reading.ZoneError != nil {
			errs = append(errs, reading.ZoneError)
		}
		return plan{invalid: errs.ToAggregate().Error()}
	}
	calendar := reading.Calendar
	calendar.Holidays = obs.holidays.dates

	var p plan
	if reading.ZoneError != nil {
		p.badZone = reading.ZoneError.Error()
		p.verdict = timecalc.Verdict{Replicas: calendar.DefaultReplicas, Window: -1}
		p.window = timecalc.LabelOffHours
	} else {
		p.leftOut = leftOut(reading.WindowZoneErrors)
		p.judge(tws, obs, &calendar, now)
	}
	if isWorkspace(tws) {
		p.verdict.Replicas = min(p.verdict.Replicas, 1) // it runs or is stopped
	}
	if p.metric.hold {
		p.effective, p.grace = heldCount(tws, obs)
	} else {
		p.effective, p.grace = applyGrace(tws, p.verdict.Replicas, now)
	}
	if reading.ZoneError == nil {
		p.wakeUp = calendar.NextWakeUp(now, p.grace.expiry)
	} else if p.grace.expiry != nil {
		p.wakeUp = *p.grace.expiry
	}
	if isWorkspace(tws) {
		p.decideWorkspace(tws, obs, now)
	} else {
		p.decideWrite(tws, obs, now)
	}
	p.due = due(tws, p, now)
	return p
}

// judge asks the calendar, and the metric of the window that decides.
func (p *plan) judge(tws *v1beta1.TimeWindowScaler, obs observation, calendar *timecalc.Calendar, now time.Time) {
	p.verdict = calendar.At(now)
	p.window = calendar.Label(p.verdict)
	p.nextBoundary = calendar.NextBoundary(now)
	if metric, ok := metricOf(tws, p.verdict.Window); ok {
		p.metric = decideMetric(tws, obs, metric, p.window, p.verdict.Replicas)
		p.verdict.Replicas = p.metric.replicas
	}
	if isWorkspace(tws) {
		p.since = calendar.Since(now)
	}
}

// decideWrite compares the target with p's count. In a fight the write may have to wait.
func (p *plan) decideWrite(tws *v1beta1.TimeWindowScaler, obs observation, now time.Time) {
	p.write = obs.target != nil && obs.owner == "" && !tws.Spec.Pause && !obs.target.asksFor(p.effective) &&
		(!p.metric.hold || obs.target.specReplicas < p.effective)
	p.drift = p.write && isDrift(tws, obs, p.effective)
	p.fight = decideFight(tws, obs, p, now)
	p.waiting = p.write && p.fight.rewritten && now.Before(p.fight.due()) && !obs.fight.enforce
	if p.waiting {
		p.write, p.drift = false, false
	}
}

// targetErrors refuses targets that are not ours to scale (R5, A3).
// Admission does too, but webhooks can be away, and a kind can change.
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

// leftOut says why windows are left out, in one line; "" if none is.
func leftOut(zoneErrors field.ErrorList) string {
	switch more := len(zoneErrors) - 1; more {
	case -1:
		return ""
	case 0:
		return zoneErrors[0].Error() + "; this window is left out"
	default:
		return fmt.Sprintf("%v; this window is left out, and so are others: %d in all", zoneErrors[0], more+1)
	}
}

// applyGrace holds a decrease back (B2). The first decision of all knows no grace.
func applyGrace(tws *v1beta1.TimeWindowScaler, desired int32, now time.Time) (int32, grace) {
	status, seconds := &tws.Status, tws.Spec.GracePeriodSeconds
	if status.EffectiveReplicas == nil {
		return desired, grace{}
	}
	var expiry *time.Time
	if status.GracePeriodExpiry != nil {
		// A grace period ends at the latest its own length from now; more than that is left from
		// before the clock was set back or the spec was changed.
		longest := wholeSecond(now.Add(time.Duration(seconds) * time.Second))
		expiry = &status.GracePeriodExpiry.Time
		if expiry.After(longest) {
			expiry = &longest
		}
	}
	effective, newExpiry := timecalc.ApplyGracePeriod(*status.EffectiveReplicas, desired, seconds, expiry, now)
	if newExpiry != nil {
		rounded := wholeSecond(*newExpiry)
		newExpiry = &rounded
	}
	return effective, grace{
		expiry:    newExpiry,
		started:   expiry == nil && newExpiry != nil,
		cancelled: expiry != nil && newExpiry == nil && effective >= *status.EffectiveReplicas,
		ended:     expiry != nil && newExpiry == nil && effective < *status.EffectiveReplicas,
	}
}

// wholeSecond rounds up: the API stores whole seconds, and a grace period must not end early.
func wholeSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}

// isDrift reports whether the target was as it should be, or on its way there, for this very spec,
// until someone else changed it. A target that comes back, an end of pause or a refused write are no
// drift; a target that a rival holds while a correction waits is.
func isDrift(tws *v1beta1.TimeWindowScaler, obs observation, effective int32) bool {
	status := &tws.Status
	if status.EffectiveReplicas == nil || *status.EffectiveReplicas != effective || status.ObservedGeneration != tws.Generation {
		return false
	}
	degraded := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionDegraded)
	return meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReady) ||
		meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReconciling) ||
		obs.fight.before.rewritten || degraded != nil && degraded.Reason == v1beta1.ReasonFieldFight
}

// due returns the instant that made p's write due, if it was the passing of time.
func due(tws *v1beta1.TimeWindowScaler, p plan, now time.Time) time.Time {
	status := &tws.Status
	switch {
	case !p.write || p.drift || status.ObservedGeneration != tws.Generation:
		return time.Time{}
	case p.grace.ended:
		return status.GracePeriodExpiry.Time
	case status.NextBoundary != nil && !status.NextBoundary.After(now):
		return status.NextBoundary.Time
	default:
		return time.Time{}
	}
}
