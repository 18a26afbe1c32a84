package explain

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

// State is the state of a cluster at the instant.
type State struct {
	Status     v1beta1.TimeWindowScalerStatus
	Generation int64
	// Deleting says that the TimeWindowScaler is being deleted, and what that waits for; "" if it is not.
	Deleting string
	// Target is nil if it does not exist, or could not be read, which is in Unknown.
	Target *Target
	// Missing is why there is no target, "" if there is one or it could not be read. NoKind: its kind does not exist, or
	// cannot be scaled.
	Missing string
	NoKind  bool
	// Owner is the TimeWindowScaler that owns the same target (B8), and Autoscaler an HPA on it.
	Owner, Autoscaler string
	// Unknown is what could not be read.
	Unknown []string
}

// ofThisTarget returns the state without what its status says about the counts of another target.
func (s *State) ofThisTarget() *State {
	if s.Target == nil || schedule.OfTarget(&s.Status, s.Target.UID) {
		return s
	}
	of := *s
	of.Status.EffectiveReplicas, of.Status.GracePeriodExpiry = nil, nil
	return &of
}

// stateFacts are what affects the target besides the schedule, in the order in which the controller decides.
func (e *Explanation) stateFacts(state *State) {
	if state == nil {
		return
	}
	e.Effective = e.Replicas
	e.metricState(state)
	e.graceState(state)
	if state.Autoscaler != "" {
		e.add("autoscaler", "HorizontalPodAutoscaler %s scales the same target; only one of the two can control it", state.Autoscaler)
	}
	e.targetState(state)
	e.conditions(state)
	for _, unknown := range state.Unknown {
		e.add("unknown", "%s", unknown)
	}
}

// metricState takes the count of a metric from the status, unless that is about another window.
func (e *Explanation) metricState(state *State) {
	status := &state.Status
	if e.Decider != ByMetric {
		return
	}
	if status.CurrentWindow != e.Window || status.EffectiveReplicas == nil {
		e.Effective = nil
		return
	}
	e.Replicas, e.Effective = status.EffectiveReplicas, status.EffectiveReplicas
	name := e.Scaler.Spec.Windows[e.verdict.Window].Metric.Name
	source := "from metric " + name
	if reason(status, v1beta1.ConditionDegraded) == v1beta1.ReasonMetricUnavailable {
		source = "the fallback while metric " + name + " has no value"
	}
	e.Answer = e.sentence(fmt.Sprintf("asks for %s, %s: %s", amount(e.Scaler, *e.Effective), source, e.covered()))
}

// graceState delays a lower count as the controller does (B2, B15, B16), starting from the count in the status. If a metric decides,
// the status has the result already. There is nothing to keep of a target that is gone.
func (e *Explanation) graceState(state *State) {
	if e.Decider == ByMetric {
		return
	}
	status := state.Status
	e.Scaler.State = &status // as the next pass will write it
	inForce, gone := status.EffectiveReplicas, state.Missing != "" && !state.NoKind
	if inForce == nil || gone {
		status.GracePeriodExpiry = nil
		return
	}
	kept := *inForce
	if state.Target != nil {
		kept = schedule.Kept(kept, state.Target.asks(e), state.Target.asksFor(e, kept))
	}
	reading := schedule.FromSpec(e.Scaler.Spec, field.NewPath("spec"))
	reading.Calendar = e.Scaler.Calendar
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Generation: state.Generation}, Spec: *e.Scaler.Spec, Status: state.Status}
	end, _ := reading.GraceEnd(tws, kept, e.At)
	effective, expiry := timecalc.ApplyGracePeriod(kept, *e.Replicas, e.Scaler.Spec.GracePeriodSeconds, &end, e.At)
	e.Effective, status.EffectiveReplicas, status.GracePeriodExpiry = &effective, &effective, nil
	if expiry == nil {
		return
	}
	status.GracePeriodExpiry = &metav1.Time{Time: *expiry}
	until := stamp(expiry.Truncate(time.Second).In(e.At.Location()))
	e.add("grace period", "running until %s, %s: keeps %s", until, in(expiry.Sub(e.At)), amount(e.Scaler, effective))
	e.say("A grace period keeps %s until %s.", amount(e.Scaler, effective), until)
}

func (e *Explanation) say(format string, args ...any) { e.Answer += " " + fmt.Sprintf(format, args...) }

// targetState compares the target with its desired count, unless Kyklos does not control it.
func (e *Explanation) targetState(state *State) {
	name := e.Scaler.Target()
	switch target := state.Target; {
	case state.Owner != "":
		e.add("owner", "%s belongs to TimeWindowScaler %s, so this one has no effect", name, state.Owner)
		e.say("It has no effect: %s belongs to TimeWindowScaler %s.", name, state.Owner)
	case state.Missing != "":
		e.add("target", "%s", state.Missing)
		e.say("There is nothing to scale: %s.", state.Missing)
	case target == nil:
	case e.Effective == nil:
		e.add("target", "%s: %s", name, e.seen(target))
	case target.asksFor(e, *e.Effective):
		e.add("target", "%s is in sync: %s", name, e.seen(target))
	default:
		e.add("target", "%s is out of sync, it should be %s: %s", name, amount(e.Scaler, *e.Effective), e.seen(target))
		e.say("%s.", e.differs(state))
	}
}

func (e *Explanation) differs(state *State) string {
	name, target, status := e.Scaler.Target(), state.Target, &state.Status
	other := "another count"
	switch {
	case e.Scaler.IsWorkspace():
		other = target.Desired
	case !e.Scaler.IsDaemonSet() && !target.Unset:
		other = fmt.Sprint(target.Asks)
	}
	switch {
	case e.Scaler.Spec.Pause:
		return fmt.Sprintf("It is paused (spec.pause), so Kyklos leaves %s at %s", name, other)
	case reason(status, v1beta1.ConditionDegraded) == v1beta1.ReasonFieldFight:
		return fmt.Sprintf("%s has %s: another field manager keeps changing it, and Kyklos corrects it less and less often", name, other)
	case e.stale(state) != "":
		return fmt.Sprintf("%s has %s, and is not corrected: %s", name, other, e.stale(state))
	case reason(status, v1beta1.ConditionReady) == v1beta1.ReasonTargetInUse:
		return fmt.Sprintf("%s stays in %s while somebody uses it, and is stopped when nobody does", name, other)
	case e.staysArchived(target) != "":
		return fmt.Sprintf("%s stays archived, because %s", name, e.staysArchived(target))
	case schedule.DriftPolicy(e.Scaler.Spec) == v1beta1.DriftUntilBoundary && meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReady):
		return fmt.Sprintf("%s stays %s, which a user or controller asked for since the last start or end of a window; the next one applies again", name, e.where(target))
	case slices.Contains([]string{v1beta1.ReasonScaleFailed, v1beta1.ReasonTargetForbidden, v1beta1.ReasonTargetUnavailable}, reason(status, v1beta1.ConditionDegraded)):
		return fmt.Sprintf("%s has %s: Kyklos cannot change it, see Degraded", name, other)
	default:
		return fmt.Sprintf("%s has %s right now; Kyklos is about to correct it", name, other)
	}
}

// where is what others set, after "stays".
func (e *Explanation) where(target *Target) string {
	switch {
	case e.Scaler.IsWorkspace():
		return "in " + target.Desired
	case e.Scaler.IsDaemonSet() && target.Suspended:
		return "suspended"
	case e.Scaler.IsDaemonSet():
		return "running"
	default:
		return fmt.Sprintf("at %d", target.asks(e))
	}
}

// stale is why the status is outdated, "" if it is not: Kyklos reconciles at nextBoundary at the latest.
func (e *Explanation) stale(state *State) string {
	const patience = 2 * time.Minute // for jitter, and clocks that differ
	status := &state.Status
	switch next := status.NextBoundary; {
	case len(status.Conditions) == 0 && e.isScaled(state):
		return "Kyklos scales the target, but the status is empty: if there is an event StatusRefused, the API server refuses it"
	case len(status.Conditions) == 0:
		return "Kyklos has not processed this TimeWindowScaler yet, its manager may not be running"
	case (status.ObservedGeneration < state.Generation || next != nil && e.At.Sub(next.Time) > patience) && e.isScaled(state):
		return "Kyklos has scaled the target, and the status follows in a minute or two: if there is an event StatusRefused, the API server refuses it"
	case status.ObservedGeneration < state.Generation:
		return fmt.Sprintf("Kyklos has not processed the latest change of the spec yet (generation %d of %d)", status.ObservedGeneration, state.Generation)
	case next != nil && e.At.Sub(next.Time) > patience:
		return fmt.Sprintf("Kyklos should have reconciled at %s but did not, its manager may not be running", stamp(next.In(e.At.Location())))
	default:
		return ""
	}
}

// isScaled reports that Kyklos set the count that is due now, and not the one in the status. The time of the write would not
// tell: the API server records none, or an older one, for a scale subresource.
func (e *Explanation) isScaled(state *State) bool {
	target, inStatus := state.Target, state.Status.EffectiveReplicas
	return target != nil && slices.Contains(target.Owners, targetkind.FieldManager) && e.Effective != nil &&
		target.asksFor(e, *e.Effective) && (inStatus == nil || !target.asksFor(e, *inStatus))
}

// conditions adds Ready, and the other conditions if they are true.
func (e *Explanation) conditions(state *State) {
	if state == nil {
		return
	}
	if stale := e.stale(state); stale != "" {
		e.add("status", "%s", stale)
	}
	for _, name := range []string{v1beta1.ConditionReady, v1beta1.ConditionReconciling, v1beta1.ConditionDegraded} {
		condition := meta.FindStatusCondition(state.Status.Conditions, name)
		if condition == nil || name != v1beta1.ConditionReady && condition.Status != metav1.ConditionTrue {
			continue
		}
		e.add(name, "%s since %s: %s: %s", condition.Status, stamp(condition.LastTransitionTime.In(e.At.Location())), condition.Reason, condition.Message)
	}
}

// reason is the reason of a condition that is true, "" otherwise.
func reason(status *v1beta1.TimeWindowScalerStatus, name string) string {
	condition := meta.FindStatusCondition(status.Conditions, name)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return ""
	}
	return condition.Reason
}
