package timewindowscaler

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/statuswriter"
)

// situation is all that a report is about; every function of it is pure.
type situation struct {
	tws     *v1beta1.TimeWindowScaler
	obs     observation
	plan    plan
	outcome outcome
	now     time.Time
}

// status is what the scaler's status should say after this pass.
func (s *situation) status() v1beta1.TimeWindowScalerStatus {
	status := *s.tws.Status.DeepCopy()
	status.ObservedGeneration = s.tws.Generation
	status.TargetObservedReplicas = nil
	if s.outcome.target != nil {
		status.TargetObservedReplicas = ptr.To(s.outcome.target.observedReplicas)
	}
	status.NextBoundary = timePointer(s.plan.nextBoundary)
	if s.plan.invalid == "" {
		status.CurrentWindow = s.plan.window
		status.EffectiveReplicas = ptr.To(s.plan.effective)
		status.Holiday = s.plan.verdict.Holiday
		status.GracePeriodExpiry = nil
		if s.plan.grace.expiry != nil {
			status.GracePeriodExpiry = timePointer(*s.plan.grace.expiry)
		}
	}
	status.Applied = s.applied()
	if s.outcome.scaled {
		status.LastScaleTime = timePointer(s.now)
	}
	status.Conditions = statuswriter.BuildConditions(statuswriter.States{
		Ready:       s.ready(),
		Reconciling: s.reconciling(),
		Degraded:    s.degraded(),
	}, s.tws.Status.Conditions, s.tws.Generation, *timePointer(s.now))
	return status
}

// aligned reports whether the target was seen with the replicas that it should have (B4).
func (s *situation) aligned() bool {
	if s.outcome.target != nil && s.plan.drive.left {
		return true // Kyklos has done its part; who else decided is in the message
	}
	return s.outcome.target != nil && s.outcome.target.has(s.plan.effective) &&
		(s.tws.Spec.Pause || s.outcome.target.asksFor(s.plan.effective))
}

func (s *situation) ready() statuswriter.State {
	no := func(reason, message string) statuswriter.State {
		return statuswriter.State{Status: metav1.ConditionFalse, Reason: reason, Message: message}
	}
	switch {
	case s.plan.invalid != "":
		return no(v1beta1.ReasonInvalidConfiguration, "The target is left alone until the spec can be followed; see Degraded")
	case s.obs.owner != "":
		return no(v1beta1.ReasonTargetConflict, s.ownedBy())
	case s.forbidden() != nil:
		return no(v1beta1.ReasonTargetForbidden, "The target is left alone until Kyklos has the permission; see Degraded")
	case s.outcome.target == nil:
		return no(v1beta1.ReasonTargetNotFound, s.missingMessage())
	case s.aligned():
		return statuswriter.State{Status: metav1.ConditionTrue, Reason: v1beta1.ReasonReconciled, Message: s.alignedMessage()}
	case s.tws.Spec.Pause:
		return no(v1beta1.ReasonTargetMismatch, s.pausedMessage())
	case s.plan.waiting:
		return no(v1beta1.ReasonTargetMismatch, s.waitingMessage())
	default:
		return no(v1beta1.ReasonTargetMismatch, s.underWayMessage())
	}
}

// ownedBy says who has the target, for condition and event alike.
func (s *situation) ownedBy() string {
	reference := s.tws.Spec.TargetRef
	return fmt.Sprintf("%s %s belongs to the older TimeWindowScaler %s", reference.Kind, reference.Name, s.obs.owner)
}

// why names what decides the replica count.
func (s *situation) why() string {
	switch {
	case s.plan.grace.expiry != nil:
		return "grace period"
	case s.plan.verdict.Override:
		return fmt.Sprintf("holiday %s: %s", s.plan.verdict.Holiday, s.tws.Spec.Holidays.Mode)
	default:
		return s.cause().Decider()
	}
}

func (s *situation) reconciling() statuswriter.State {
	stable := func(message string) statuswriter.State {
		return statuswriter.State{Status: metav1.ConditionFalse, Reason: v1beta1.ReasonStable, Message: message}
	}
	switch {
	case s.plan.invalid != "" || s.obs.owner != "" || s.outcome.target == nil || s.outcome.refused != nil:
		return stable("Nothing can be done about the target now; see Ready and Degraded")
	case s.tws.Spec.Pause:
		return stable("Paused: the target is left alone")
	case s.plan.waiting:
		return stable("The next correction of the target waits; see Degraded")
	case s.aligned():
		return stable("The target is as it should be")
	}
	return statuswriter.State{Status: metav1.ConditionTrue, Reason: s.reconcilingReason(), Message: s.bringingMessage()}
}

// reconcilingReason stays what it was until the target has arrived, so that it does not flap.
func (s *situation) reconcilingReason() string {
	status := &s.tws.Status
	if status.ObservedGeneration != s.tws.Generation {
		return v1beta1.ReasonConfigurationChange
	}
	last := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionReconciling)
	moved := ptr.Deref(status.EffectiveReplicas, -1) != s.plan.effective
	if last != nil && last.Reason == v1beta1.ReasonConfigurationChange && !moved {
		return v1beta1.ReasonConfigurationChange
	}
	return v1beta1.ReasonWindowTransition
}

// degraded names the gravest reason for which Kyklos works with less than was asked for.
func (s *situation) degraded() statuswriter.State {
	yes := func(reason, message string) statuswriter.State {
		return statuswriter.State{Status: metav1.ConditionTrue, Reason: reason, Message: message}
	}
	switch {
	case s.plan.invalid != "":
		return yes(v1beta1.ReasonInvalidConfiguration, s.plan.invalid)
	case s.forbidden() != nil:
		return yes(v1beta1.ReasonTargetForbidden, s.forbidden().Error())
	case s.plan.badZone != "":
		return yes(v1beta1.ReasonInvalidTimezone, s.plan.badZone+"; using defaultReplicas")
	case s.plan.leftOut != "":
		return yes(v1beta1.ReasonInvalidTimezone, s.plan.leftOut)
	case s.outcome.refused != nil:
		return yes(v1beta1.ReasonScaleFailed, "The API server refuses to scale the target: "+s.outcome.refused.Error())
	case s.plan.fight.on():
		return yes(v1beta1.ReasonFieldFight, s.plan.fight.trouble)
	case s.plan.metric.failing:
		return yes(v1beta1.ReasonMetricUnavailable, s.plan.metric.trouble)
	case s.obs.holidays.missing != "":
		return yes(v1beta1.ReasonHolidaySourceMissing,
			fmt.Sprintf("ConfigMap %s with the holidays not found; every day counts as a normal day", s.obs.holidays.missing))
	default:
		return statuswriter.State{Status: metav1.ConditionFalse, Reason: v1beta1.ReasonOperationalNormal, Message: normalMessage(s.obs.holidays)}
	}
}

// normalMessage names the holiday keys that are no dates; they are otherwise ignored (B6).
func normalMessage(h holidays) string {
	if len(h.invalid) == 0 {
		return "Everything in the spec is at work"
	}
	const most = 5
	shown, more := h.invalid, ""
	if len(shown) > most {
		shown, more = shown[:most], fmt.Sprintf(" and %d more", len(h.invalid)-most)
	}
	return fmt.Sprintf("Everything in the spec is at work, but these holiday keys are no yyyy-mm-dd dates: %s%s", strings.Join(shown, ", "), more)
}

// timePointer is t as a status holds it: nil if zero, UTC, whole seconds.
func timePointer(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	stored := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &stored
}
