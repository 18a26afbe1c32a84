package timewindowscaler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/statuswriter"
	"kyklos.io/kyklos/internal/targetkind"
)

// passResult is all that a report is about; every function of it is pure.
type passResult struct {
	tws     *v1beta1.TimeWindowScaler
	obs     observation
	plan    decision
	outcome outcome
	now     time.Time
}

// report is what a pass makes public.
type report struct {
	status v1beta1.TimeWindowScalerStatus
	events []events.Event
}

func (p *passResult) report() report { return report{p.status(), p.events()} }

// status is the scaler's status after this pass.
func (p *passResult) status() v1beta1.TimeWindowScalerStatus {
	status := *p.tws.Status.DeepCopy()
	status.ObservedGeneration = p.tws.Generation
	status.TargetObservedReplicas = nil
	if p.outcome.target != nil {
		status.TargetObservedReplicas = ptr.To(p.outcome.target.Base().Observed)
		status.TargetUID = string(p.outcome.target.Base().UID)
	} else if p.obs.obstacle == nil {
		status.TargetUID = ""
	}
	status.NextBoundary = timePointer(p.plan.nextBoundary)
	status.NextChange = nextChange(p.plan.nextChange)
	if p.plan.invalid == "" {
		status.CurrentWindow = p.plan.window
		status.EffectiveReplicas = ptr.To(p.plan.effective)
		status.Holiday = p.plan.verdict.Holiday
		status.GracePeriodExpiry = nil
		if p.plan.grace.expiry != nil {
			status.GracePeriodExpiry = timePointer(*p.plan.grace.expiry)
		}
	}
	if !p.plan.Write || p.outcome.scaled || p.plan.Applied == nil { // what could not be written was not applied
		status.Applied = p.plan.Applied.DeepCopy()
	}
	if p.outcome.scaled {
		status.LastScaleTime = timePointer(p.now)
	}
	status.Conditions = statuswriter.BuildConditions(statuswriter.States{
		Ready:       p.ready(),
		Reconciling: p.reconciling(),
		Degraded:    p.degraded(),
	}, p.tws.Status.Conditions, p.tws.Generation, *timePointer(p.now))
	return status
}

// aligned reports whether the target is as it should be: it was seen with the replicas that it should have,
// and nobody but its own controller has changed anything since (B4).
func (p *passResult) aligned() bool {
	t := p.outcome.target
	if t == nil || p.plan.Left { // left: Kyklos has done its part
		return t != nil
	}
	return t.Has(p.plan.desired()) && (p.tws.Spec.Pause || t.AsksFor(p.plan.desired())) || p.replacing()
}

// replacing reports that a target that had arrived is still set to the same count, and its own controller has
// other pods for now: a rollout, or pods that were evicted. After a change by Kyklos it has to arrive again.
func (p *passResult) replacing() bool {
	t, status := p.outcome.target, &ofThisTarget(p.tws, p.obs).Status
	arrived := meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReady) &&
		status.ObservedGeneration == p.tws.Generation && ptr.Deref(status.EffectiveReplicas, -1) == p.plan.effective
	return arrived && !p.outcome.scaled && t.AsksFor(p.plan.desired()) && !t.Has(p.plan.desired()) &&
		t.Describe(p.plan.desired()).Replacing != ""
}

func yes(reason, message string) statuswriter.State {
	return statuswriter.State{Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

func no(reason, message string) statuswriter.State {
	return statuswriter.State{Status: metav1.ConditionFalse, Reason: reason, Message: message}
}

func (p *passResult) ready() statuswriter.State {
	switch {
	case p.plan.invalid != "":
		return no(v1beta1.ReasonInvalidConfiguration, "The target is left alone until the spec is valid; see Degraded")
	case !p.obs.takesOver.IsZero():
		return no(v1beta1.ReasonTargetConflict, p.takeoverMessage())
	case p.obs.owner != "":
		return no(v1beta1.ReasonTargetConflict, p.ownedBy())
	case p.forbidden() != nil:
		return no(v1beta1.ReasonTargetForbidden, "The target is left alone until Kyklos has the permission; see Degraded")
	case p.obs.unavailable != nil:
		return unreadable
	case p.outcome.target == nil:
		return no(v1beta1.ReasonTargetNotFound, p.missingMessage())
	}
	d := p.outcome.target.Describe(p.plan.desired())
	switch {
	case p.plan.WaitsForIdle:
		return yes(v1beta1.ReasonTargetInUse, fmt.Sprintf("Target stays in %s while somebody uses it, and is set to %s when nobody does (%s)", d.Current, d.Desired, p.why()))
	case p.aligned() && p.plan.Archived != "":
		return yes(v1beta1.ReasonReconciled, fmt.Sprintf("Target stays archived, because %s (%s)", p.plan.Archived, p.why()))
	case p.aligned() && p.plan.Left:
		return yes(v1beta1.ReasonReconciled, fmt.Sprintf("Target %s because another user or controller set it; the next window boundary decides again (%s)", d.Stays, p.why()))
	case p.replacing():
		return yes(v1beta1.ReasonReconciled, fmt.Sprintf("Target %s (%s)", d.Replacing, p.why()))
	case p.aligned():
		return yes(v1beta1.ReasonReconciled, fmt.Sprintf("Target %s (%s)", d.Reached, p.why()))
	case p.plan.Skipped:
		return no(v1beta1.ReasonTargetMismatch, fmt.Sprintf("Target %s but desired is %s (pause=true)", d.Now, d.Desired))
	case p.plan.waiting:
		return no(v1beta1.ReasonTargetMismatch, fmt.Sprintf("Target %s (%s): another writer keeps changing it, "+
			"so Kyklos corrects it less and less often, in the end every 5 minutes; see Degraded", d.Pending, p.why()))
	default:
		return no(v1beta1.ReasonTargetMismatch, fmt.Sprintf("Target %s (%s)", d.Pending, p.why()))
	}
}

// ownedBy names the owner of the target, for condition and event alike.
func (p *passResult) ownedBy() string {
	reference := p.tws.Spec.TargetRef
	return fmt.Sprintf("%s %s belongs to TimeWindowScaler %s, and a workload can have only one", reference.Kind, reference.Name, p.obs.owner)
}

// autoscaledBy names the HPA on the target.
func (p *passResult) autoscaledBy() string {
	reference := p.tws.Spec.TargetRef
	return fmt.Sprintf("HorizontalPodAutoscaler %s also scales %s %s; the two will overwrite each other", p.obs.autoscaler, reference.Kind, reference.Name)
}

// missingMessage says that the target does not exist, or that its kind does not.
func (p *passResult) missingMessage() string {
	reference := p.tws.Spec.TargetRef
	message := fmt.Sprintf("Target %s %s/%s not found", reference.Kind, p.tws.Namespace, reference.Name)
	if p.obs.obstacle != nil {
		message += ": " + p.obs.obstacle.Error()
	}
	return message
}

// forbidden is the missing permission for the target's kind; nil without one.
func (p *passResult) forbidden() *targetkind.ForbiddenError {
	var forbidden *targetkind.ForbiddenError
	errors.As(p.obs.obstacle, &forbidden)
	return forbidden
}

// why names what decides the replica count.
func (p *passResult) why() string {
	switch {
	case p.plan.grace.expiry != nil:
		return "grace period"
	case p.plan.verdict.Override:
		return fmt.Sprintf("holiday %s: %s", p.plan.verdict.Holiday, p.tws.Spec.Holidays.Mode)
	default:
		return p.cause().Decider()
	}
}

func (p *passResult) reconciling() statuswriter.State {
	switch {
	case p.plan.invalid != "" || p.obs.owner != "" || p.outcome.target == nil || p.outcome.trouble() != nil:
		return no(v1beta1.ReasonStable, "The target cannot be changed now; see Ready and Degraded")
	case p.tws.Spec.Pause:
		return no(v1beta1.ReasonStable, "Paused: the target is left alone")
	case p.plan.waiting:
		return no(v1beta1.ReasonStable, "The next correction of the target is delayed; see Degraded")
	case p.aligned():
		return no(v1beta1.ReasonStable, "The target is as desired")
	}
	return yes(p.reconcilingReason(), fmt.Sprintf("%s (%s)", p.outcome.target.Describe(p.plan.desired()).Changing, p.why()))
}

// reconcilingReason stays the same until the target has arrived, so that it does not flap.
func (p *passResult) reconcilingReason() string {
	status := &p.tws.Status
	if status.ObservedGeneration != p.tws.Generation {
		return v1beta1.ReasonConfigurationChange
	}
	last := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionReconciling)
	moved := ptr.Deref(status.EffectiveReplicas, -1) != p.plan.effective
	if last != nil && last.Reason == v1beta1.ReasonConfigurationChange && !moved {
		return v1beta1.ReasonConfigurationChange
	}
	return v1beta1.ReasonWindowTransition
}

// degraded names the most serious reason why the spec is not fully applied.
func (p *passResult) degraded() statuswriter.State {
	switch {
	case p.plan.invalid != "":
		return yes(v1beta1.ReasonInvalidConfiguration, p.plan.invalid)
	case p.forbidden() != nil:
		return yes(v1beta1.ReasonTargetForbidden, p.forbidden().Error())
	case p.obs.unavailable != nil:
		return yes(v1beta1.ReasonTargetUnavailable, p.unavailableMessage())
	case p.plan.badZone != "":
		return yes(v1beta1.ReasonInvalidTimezone, p.plan.badZone+"; using defaultReplicas")
	case p.plan.leftOut != "":
		return yes(v1beta1.ReasonInvalidTimezone, p.plan.leftOut)
	case p.outcome.refused != nil:
		return yes(v1beta1.ReasonScaleFailed, "The API server refuses to scale the target: "+p.outcome.refused.Error())
	case p.outcome.failed != nil:
		return yes(v1beta1.ReasonScaleFailed, p.failedMessage())
	case p.obs.unwatched != nil:
		return yes(v1beta1.ReasonTargetUnavailable, p.unwatchedMessage())
	case p.plan.fight.On():
		return yes(v1beta1.ReasonFieldFight, p.plan.fight.Trouble)
	case p.plan.metric.Failing:
		return yes(v1beta1.ReasonMetricUnavailable, p.plan.metric.Trouble)
	case p.obs.holidays.missing != "":
		return yes(v1beta1.ReasonHolidaySourceMissing, p.obs.holidays.missingMessage(p.plan.holidaysUntil))
	case p.obs.autoscaler != "" && p.obs.owner == "" && !p.tws.Spec.Pause:
		return yes(v1beta1.ReasonTargetConflict, p.autoscaledBy()+": "+schedule.HowToShare(&p.tws.Spec))
	default:
		return no(v1beta1.ReasonOperationalNormal, normalMessage(p.obs.holidays))
	}
}

// normalMessage lists the holiday keys that are not dates; they are otherwise ignored (B6).
func normalMessage(h holidays) string {
	if len(h.invalid) == 0 {
		return "The spec is fully applied"
	}
	const most = 5
	shown, more := h.invalid, ""
	if len(shown) > most {
		shown, more = shown[:most], fmt.Sprintf(" and %d more", len(h.invalid)-most)
	}
	return fmt.Sprintf("The spec is fully applied, but these holiday keys are not yyyy-mm-dd dates: %s%s", strings.Join(shown, ", "), more)
}
