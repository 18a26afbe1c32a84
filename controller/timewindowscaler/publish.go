package timewindowscaler

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
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
	case p.outcome.scaled:
		evs = append(evs, events.EmitScale(d.Up, d.Action, d.Changed, p.cause()))
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

// publish publishes the events, logs each change of the target and of Degraded, and sets the metrics.
func (r *Reconciler) publish(ctx context.Context, pass *passResult, report report) {
	logger := log.FromContext(ctx)
	if pass.outcome.scaled {
		logger.Info("Scaled", "target", pass.tws.Spec.TargetRef.Name, "from", pass.outcome.from, "to", pass.plan.effective,
			"window", pass.plan.window, "reason", pass.why(), "drift", pass.plan.Drift)
	}
	now := meta.FindStatusCondition(report.status.Conditions, v1beta1.ConditionDegraded)
	before := meta.FindStatusCondition(pass.tws.Status.Conditions, v1beta1.ConditionDegraded)
	if before == nil && now.Status == metav1.ConditionTrue || before != nil && before.Reason != now.Reason {
		logger.Info("Degraded changed", "status", now.Status, "reason", now.Reason, "message", now.Message)
	}
	r.Events.Publish(pass.tws, pass.now, report.events...)
	pass.record(&report.status)
}

// record sets the metrics of this pass.
func (p *passResult) record(status *v1beta1.TimeWindowScalerStatus) {
	name, namespace := p.tws.Name, p.tws.Namespace
	if p.outcome.scaled {
		metrics.RecordScaleEvent(name, namespace, p.outcome.from, p.plan.effective)
		if p.plan.Drift {
			metrics.RecordDriftCorrection(name, namespace)
		}
		if !p.plan.due.IsZero() {
			metrics.RecordBoundaryLateness(p.outcome.at.Sub(p.plan.due).Seconds())
		}
	}
	if p.forbidden() != nil {
		metrics.RecordScaleFailure(name, namespace, string(metav1.StatusReasonForbidden))
	}
	metrics.RecordState(name, namespace, metrics.State{
		Window:            status.CurrentWindow,
		EffectiveReplicas: ptr.Deref(status.EffectiveReplicas, 0),
		Drift:             p.drift(status),
		InGracePeriod:     status.GracePeriodExpiry != nil,
		Paused:            p.tws.Spec.Pause,
		HolidayOverride:   p.plan.verdict.Override,
		Degraded:          meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionDegraded),
		FieldFight:        p.plan.fight.On(),
		Due:               p.nextDue(),
		External:          p.external(),
	})
}

// external is the metric that decides, nil without one or without its value.
func (p *passResult) external() *metrics.External {
	m := &p.plan.metric
	if m.Value == nil {
		return nil
	}
	return &metrics.External{Window: m.Window, Metric: m.Metric, Milli: *m.Value}
}

// drift is how far the target is from the effective replicas.
func (p *passResult) drift(status *v1beta1.TimeWindowScalerStatus) int32 {
	if p.outcome.target == nil || status.EffectiveReplicas == nil || p.plan.Left {
		return 0
	}
	return p.outcome.target.Distance(target.Desired{Replicas: *status.EffectiveReplicas}, p.replacing())
}

// timePointer is t as a status holds it: nil if zero, UTC, whole seconds.
func timePointer(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	stored := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &stored
}
