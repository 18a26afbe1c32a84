package timewindowscaler

import (
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
)

// events are the events of this pass, in the order in which things happened.
func (p *passResult) events() []events.Event {
	evs := p.warnings()
	if p.plan.invalid != "" || p.obs.owner != "" {
		return evs
	}
	evs = append(evs, p.holidayEvents()...)
	evs = append(evs, p.graceEvents()...)
	if p.obs.target == nil {
		return evs
	}
	d := p.obs.target.Describe(p.plan.desired())
	switch {
	case p.beginsToWait():
		evs = append(evs, p.stopWaits())
	case p.outcome.scaled:
		evs = append(evs, events.EmitScale(d.Up, d.Action, d.Changed, p.cause()))
	case p.plan.ArchivedNow:
		evs = append(evs, events.EmitKeptArchived(p.plan.Archived, p.cause()))
	case p.plan.Skipped:
		evs = append(evs, events.EmitScalingSkipped(d.Current, d.Desired, events.SkippedByPause))
	case p.outcome.refused != nil:
		evs = append(evs, events.EmitScalingSkipped(d.Current, d.Desired, events.SkippedByServer))
	}
	return evs
}

func (p *passResult) warnings() []events.Event {
	var evs []events.Event
	reference := p.tws.Spec.TargetRef
	kindWarning := ""
	if p.plan.invalid == "" && p.tws.Status.ObservedGeneration != p.tws.Generation {
		kindWarning = target.KindOf(reference).Warning(&p.tws.Spec)
	}
	for _, detail := range []string{p.plan.invalid, p.plan.badZone, p.plan.leftOut, kindWarning} {
		if detail != "" {
			evs = append(evs, events.EmitWarning(events.ReasonInvalidSchedule, detail))
		}
	}
	if p.plan.invalid != "" {
		return evs
	}
	switch {
	case !p.obs.takesOver.IsZero(): // not worth an event, as it ends by itself
	case p.obs.owner != "":
		evs = append(evs, events.EmitWarning(events.ReasonTargetConflict, p.ownedBy()))
	case p.forbidden() != nil:
		evs = append(evs, events.EmitWarning(events.ReasonTargetForbidden, p.forbidden().Error()))
	case p.obs.target == nil && p.obs.unavailable == nil:
		evs = append(evs, events.EmitWarning(events.ReasonMissingTarget, p.missingMessage()))
	}
	evs = append(evs, p.failureEvents()...)
	if p.plan.fight.On() && !p.plan.fight.Announced {
		evs = append(evs, events.EmitWarning(events.ReasonFieldFight, p.plan.fight.Trouble))
	}
	if p.plan.metric.Lost {
		evs = append(evs, events.EmitWarning(events.ReasonMetricUnavailable, p.plan.metric.Trouble))
	}
	if p.obs.autoscaler != "" {
		evs = append(evs, events.EmitWarning(events.ReasonTargetConflict, p.autoscaledBy()))
	}
	return evs
}

// holidayEvents announce a holiday once: on the pass that first sees it, or sees it with a new spec.
func (p *passResult) holidayEvents() []events.Event {
	v := p.plan.verdict
	if v.Holiday == "" || v.Holiday == p.tws.Status.Holiday && p.tws.Status.ObservedGeneration == p.tws.Generation {
		return nil
	}
	mode := p.tws.Spec.Holidays.Mode
	evs := []events.Event{events.EmitHolidayDetected(v.Holiday, string(mode))}
	if v.Override {
		how := "closed"
		if mode == v1beta1.HolidayOpen {
			how = "open"
		}
		evs = append(evs, events.EmitWindowOverride(v.Holiday, how, v.Replicas))
	}
	return evs
}

func (p *passResult) graceEvents() []events.Event {
	before, instead := target.KindOf(p.tws.Spec.TargetRef).GraceMessages(target.Desired{Replicas: p.plan.verdict.Replicas}, p.plan.desired())
	switch {
	case p.plan.grace.started && before != "":
		return []events.Event{events.EmitGracePeriodStarted(p.plan.length.seconds, before)}
	case p.plan.length.edited && before != "":
		return []events.Event{events.EmitGracePeriodChanged(p.plan.length.seconds, before)}
	case p.plan.grace.cancelled:
		return []events.Event{events.EmitGracePeriodCancelled(instead)}
	default:
		return nil
	}
}

func (p *passResult) cause() events.Cause {
	cause := events.Cause{Window: p.plan.window, Drift: p.plan.Drift}
	if p.plan.grace.ended && p.plan.effective < p.outcome.from {
		cause.GraceSeconds = p.plan.length.seconds
	}
	if p.plan.verdict.Override {
		cause.HolidayMode = string(p.tws.Spec.Holidays.Mode)
	}
	if p.plan.metric.Proposal != nil && !p.plan.metric.Failing { // otherwise the fallback decides
		cause.Metric = p.plan.metric.Metric
	}
	return cause
}
