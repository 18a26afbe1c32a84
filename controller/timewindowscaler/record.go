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
	"kyklos.io/kyklos/internal/metrics"
)

// record logs each change of the target and of Degraded, sets the metrics, and keeps the events until they are published.
func (r *Reconciler) record(ctx context.Context, pass *passResult, report report, state *scalerState) {
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
	pass.record(&report.status)
	state.unpublished.add(r.Events, pass, report.events)
	r.tellWorkspace(pass, state)
	state.fight.Announced = state.fight.On()
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
