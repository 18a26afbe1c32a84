package timewindowscaler

import (
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/metrics"
)

// announcements are the events of this pass, in the order in which things happened.
func (s *situation) announcements() []events.Event {
	var evs []events.Event
	evs = append(evs, s.troubles()...)
	if s.plan.invalid != "" || s.obs.owner != "" {
		return evs
	}
	evs = append(evs, s.holidayEvents()...)
	evs = append(evs, s.graceEvents()...)
	switch {
	case s.outcome.scaled:
		evs = append(evs, s.scaledEvent())
	case s.skippedByPause():
		evs = append(evs, s.skippedEvent(events.SkippedByPause))
	case s.outcome.refused != nil:
		evs = append(evs, s.skippedEvent(events.SkippedByServer))
	}
	return evs
}

// troubles are the warnings.
func (s *situation) troubles() []events.Event {
	var evs []events.Event
	reference := s.tws.Spec.TargetRef
	for _, detail := range []string{s.plan.invalid, s.plan.badZone, s.plan.leftOut, s.countAboveOne()} {
		if detail != "" {
			evs = append(evs, events.EmitInvalidSchedule(detail))
		}
	}
	if s.plan.invalid != "" {
		return evs
	}
	switch {
	case s.obs.owner != "":
		evs = append(evs, events.EmitTargetConflict(s.ownedBy()))
	case s.forbidden() != nil:
		evs = append(evs, events.EmitTargetForbidden(s.forbidden().Error()))
	case s.obs.target == nil:
		evs = append(evs, events.EmitMissingTarget(s.missingMessage()))
	}
	if s.plan.fight.on() && !s.plan.fight.told {
		evs = append(evs, events.EmitFieldFight(s.plan.fight.trouble))
	}
	if s.plan.metric.lost {
		evs = append(evs, events.EmitMetricUnavailable(s.plan.metric.trouble))
	}
	if s.obs.autoscaler != "" {
		evs = append(evs, events.EmitTargetConflict(fmt.Sprintf("HorizontalPodAutoscaler %s scales %s %s too: the two will undo each other's work",
			s.obs.autoscaler, reference.Kind, reference.Name)))
	}
	return evs
}

// holidayEvents announce a holiday once: on the pass that first sees it, or sees it with a new spec.
func (s *situation) holidayEvents() []events.Event {
	v := s.plan.verdict
	if v.Holiday == "" || v.Holiday == s.tws.Status.Holiday && s.tws.Status.ObservedGeneration == s.tws.Generation {
		return nil
	}
	mode := s.tws.Spec.Holidays.Mode
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

func (s *situation) graceEvents() []events.Event {
	switch {
	case s.isDaemonSet():
		return s.graceOfDaemonSet()
	case isWorkspace(s.tws):
		return s.graceOfWorkspace()
	}
	switch {
	case s.plan.grace.started:
		return []events.Event{events.EmitGracePeriodStarted(s.tws.Spec.GracePeriodSeconds, s.plan.verdict.Replicas)}
	case s.plan.grace.cancelled:
		return []events.Event{events.EmitGracePeriodCancelled(s.plan.effective)}
	default:
		return nil
	}
}

func (s *situation) cause() events.Cause {
	cause := events.Cause{Window: s.plan.window, Drift: s.plan.drift}
	if s.plan.grace.ended && s.plan.effective < s.outcome.from {
		cause.GraceSeconds = s.tws.Spec.GracePeriodSeconds
	}
	if s.plan.verdict.Override {
		cause.HolidayMode = string(s.tws.Spec.Holidays.Mode)
	}
	if s.plan.metric.proposal != nil && !s.plan.metric.failing { // else the fallback decides
		cause.Metric = s.plan.metric.metric
	}
	return cause
}

// log writes one line for each change of the target, and one when the scaler begins or ceases to be
// degraded.
func (s *situation) log(logger logr.Logger) {
	if s.outcome.scaled {
		logger.Info("Scaled", "target", s.tws.Spec.TargetRef.Name, "from", s.outcome.from, "to", s.plan.effective,
			"window", s.plan.window, "reason", s.why(), "drift", s.plan.drift)
	}
	now := s.degraded()
	before := meta.FindStatusCondition(s.tws.Status.Conditions, v1beta1.ConditionDegraded)
	if before == nil && now.Status == metav1.ConditionTrue || before != nil && before.Reason != now.Reason {
		logger.Info("Degraded changed", "status", now.Status, "reason", now.Reason, "message", now.Message)
	}
}

// record sets the metrics of this pass.
func (s *situation) record(status *v1beta1.TimeWindowScalerStatus) {
	name, namespace := s.tws.Name, s.tws.Namespace
	if s.outcome.scaled {
		metrics.RecordScaleEvent(name, namespace, s.outcome.from, s.plan.effective)
		if s.plan.drift {
			metrics.RecordDriftCorrection(name, namespace)
		}
		if !s.plan.due.IsZero() {
			metrics.RecordBoundaryLateness(s.now.Sub(s.plan.due).Seconds())
		}
	}
	if s.outcome.refused != nil {
		metrics.RecordScaleFailure(name, namespace, failureReason(s.outcome.refused))
	}
	if s.forbidden() != nil {
		metrics.RecordScaleFailure(name, namespace, string(metav1.StatusReasonForbidden))
	}
	metrics.RecordStateChange(name, namespace, metrics.State{
		Window:            status.CurrentWindow,
		EffectiveReplicas: ptr.Deref(status.EffectiveReplicas, 0),
		Drift:             s.drift(status),
		InGracePeriod:     status.GracePeriodExpiry != nil,
		Paused:            s.tws.Spec.Pause,
		HolidayOverride:   s.plan.verdict.Override,
		Degraded:          s.degraded().Status == metav1.ConditionTrue,
		FieldFight:        s.plan.fight.on(),
		Due:               s.plan.wakeUp,
	})
	m := &s.plan.metric
	metrics.RecordExternalMetric(name, namespace, m.window, m.metric, m.value)
}

// drift is how far the target is from the effective replicas.
func (s *situation) drift(status *v1beta1.TimeWindowScalerStatus) int32 {
	if s.outcome.target == nil || status.EffectiveReplicas == nil || s.plan.drive.left {
		return 0
	}
	return s.outcome.target.distance(*status.EffectiveReplicas)
}
