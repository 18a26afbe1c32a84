package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/timecalc"
)

// State is what a cluster says at the instant that is explained.
type State struct {
	Status     v1beta1.TimeWindowScalerStatus
	Generation int64
	// Target is nil if there is none, or if it could not be read: then Unknown says so.
	Target *Target
	// Missing is why there is no target; "" if there is one, or nobody could look.
	Missing string
	// Owner is the older TimeWindowScaler that the target belongs to, "" without one (B8), and Autoscaler an HPA on the same target.
	Owner, Autoscaler string
	// Unknown says what could not be read.
	Unknown []string
}

// Target is what matters of a target.
type Target struct {
	// Asks is the count that its spec asks for, Has what is there. Unset: its spec asks for none.
	Asks, Has int32
	Unset     bool
	// Desired is the desired state of a Workspace, and Suspended whether a DaemonSet is.
	Desired   string
	Suspended bool
	// Owners are the field managers that own the count: who wrote it last, and others who wrote the same. Written is when, zero if
	// that is not recorded, as for a scale subresource.
	Owners  []string
	Written time.Time
}

// asksFor reports whether the target's spec is as the count wants it.
func (t *Target) asksFor(e *Explanation, replicas int32) bool {
	switch {
	case e.Scaler.IsWorkspace():
		return (t.Desired == "RUNNING") == (replicas > 0)
	case e.Scaler.IsDaemonSet():
		return t.Suspended == (replicas == 0)
	default:
		return !t.Unset && t.Asks == replicas
	}
}

// stateFacts say what comes between the schedule and the target. The order is that in which the controller decides.
func (e *Explanation) stateFacts(state *State) {
	if state == nil {
		return
	}
	e.Effective = e.Replicas
	e.metricState(state)
	e.graceState(state)
	if state.Autoscaler != "" {
		e.add("autoscaler", "HorizontalPodAutoscaler %s scales the same target: only one of the two can decide", state.Autoscaler)
	}
	e.targetState(state)
	e.conditions(state)
	for _, unknown := range state.Unknown {
		e.add("unknown", "%s", unknown)
	}
}

// metricState takes the count of a metric from the status. Without one of this window nobody knows it.
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
	source := "as the metric " + e.Scaler.Spec.Windows[e.verdict.Window].Metric.Name + " says"
	if reason(status, v1beta1.ConditionDegraded) == v1beta1.ReasonMetricUnavailable {
		source = "what it falls back on while the metric " + e.Scaler.Spec.Windows[e.verdict.Window].Metric.Name + " has no value"
	}
	e.Answer = e.sentence(fmt.Sprintf("asks for %s, %s: %s", amount(e.Scaler, *e.Effective), source, e.covered()))
}

// graceState holds a lower count back as the controller does (B2), from the count that the status has. Where a metric decides, the
// status says what came of both.
func (e *Explanation) graceState(state *State) {
	status := &state.Status
	if e.Decider == ByMetric || status.EffectiveReplicas == nil {
		return
	}
	var running *time.Time
	if status.GracePeriodExpiry != nil {
		running = &status.GracePeriodExpiry.Time
	}
	effective, expiry := timecalc.ApplyGracePeriod(*status.EffectiveReplicas, *e.Replicas, e.Scaler.Spec.GracePeriodSeconds, running, e.At)
	e.Effective = &effective
	if expiry == nil {
		return
	}
	until := stamp(expiry.Truncate(time.Second).In(e.At.Location()))
	e.add("grace period", "it runs until %s, %s: %s until then", until, in(expiry.Sub(e.At)), e.kept())
	e.say("Its grace period runs: %s until %s.", e.kept(), until)
}

// kept says what stays while a grace period runs.
func (e *Explanation) kept() string {
	if *e.Effective == 1 || e.Scaler.IsWorkspace() || e.Scaler.IsDaemonSet() {
		return amount(e.Scaler, *e.Effective) + " stays"
	}
	return amount(e.Scaler, *e.Effective) + " stay"
}

// say adds a sentence to the answer.
func (e *Explanation) say(format string, args ...any) { e.Answer += " " + fmt.Sprintf(format, args...) }

// targetState compares the target with the count that it should have. What keeps Kyklos from the target comes first: then it does not
// matter what the target is like.
func (e *Explanation) targetState(state *State) {
	name := e.Scaler.Target()
	switch target := state.Target; {
	case state.Owner != "":
		e.add("owner", "%s belongs to the older TimeWindowScaler %s: this one does nothing to it", name, state.Owner)
		e.say("It does nothing: %s belongs to the older TimeWindowScaler %s.", name, state.Owner)
	case state.Missing != "":
		e.add("target", "%s", state.Missing)
		e.say("There is nothing to scale: %s.", state.Missing)
	case target == nil:
	case e.Effective == nil:
		e.add("target", "%s: %s", name, e.seen(target))
	case target.asksFor(e, *e.Effective):
		e.add("target", "%s is as it should be: %s", name, e.seen(target))
	default:
		e.add("target", "%s should be %s: %s", name, amount(e.Scaler, *e.Effective), e.seen(target))
		e.say("%s.", e.differs(state))
	}
}

// seen is what the target is like, and who wrote its count.
func (e *Explanation) seen(target *Target) string {
	var text string
	switch {
	case e.Scaler.IsWorkspace():
		text = "its desiredState is " + target.Desired
	case e.Scaler.IsDaemonSet() && target.Suspended:
		text = fmt.Sprintf("it is suspended, and %d nodes have one of its pods", target.Has)
	case e.Scaler.IsDaemonSet():
		text = fmt.Sprintf("it runs, and %d nodes have one of its pods", target.Has)
	case target.Unset:
		text = fmt.Sprintf("its spec asks for no count, and it has %d", target.Has)
	default:
		text = fmt.Sprintf("its spec asks for %d, and it has %d", target.Asks, target.Has)
	}
	if len(target.Owners) > 0 {
		text += "; written by " + strings.Join(target.Owners, " and ")
	}
	if !target.Written.IsZero() {
		text += ", " + ago(e.At.Sub(target.Written))
	}
	return text
}

// differs is why the target may have another count than it should.
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
		return fmt.Sprintf("It is paused (spec.pause), so Kyklos leaves %s with %s", name, other)
	case reason(status, v1beta1.ConditionDegraded) == v1beta1.ReasonFieldFight:
		return fmt.Sprintf("%s has %s: somebody else sets it again and again, and Kyklos corrects it ever less often", name, other)
	case e.stale(state) != "":
		return fmt.Sprintf("%s has %s, and nobody sets it right: %s", name, other, e.stale(state))
	case e.Scaler.IsWorkspace() && meta.IsStatusConditionTrue(status.Conditions, v1beta1.ConditionReady):
		return fmt.Sprintf("%s is left in %s, as somebody asked for since: the next start or end of a window decides anew", name, other)
	case slices.Contains([]string{v1beta1.ReasonScaleFailed, v1beta1.ReasonTargetForbidden}, reason(status, v1beta1.ConditionDegraded)):
		return fmt.Sprintf("%s has %s: Kyklos may not change it, see Degraded", name, other)
	default:
		return fmt.Sprintf("%s has %s at this moment; Kyklos sets it right at once", name, other)
	}
}

// stale says why the status is not about the instant, "" if it is: Kyklos looks again at the latest at nextBoundary.
func (e *Explanation) stale(state *State) string {
	const patience = 2 * time.Minute // for jitter, and clocks that differ
	status := &state.Status
	switch next := status.NextBoundary; {
	case len(status.Conditions) == 0:
		return "Kyklos has not looked at this TimeWindowScaler yet, its manager may not be running"
	case status.ObservedGeneration < state.Generation:
		return fmt.Sprintf("Kyklos has not looked since the spec was changed (generation %d of %d)", status.ObservedGeneration, state.Generation)
	case next != nil && e.At.Sub(next.Time) > patience:
		return fmt.Sprintf("Kyklos should have looked at %s and did not, its manager may not be running", stamp(next.In(e.At.Location())))
	default:
		return ""
	}
}

// conditions are those that have something to say: Ready in any case, the others when they are true.
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

// reason is that of a condition which is true, "" if it is not.
func reason(status *v1beta1.TimeWindowScalerStatus, name string) string {
	condition := meta.FindStatusCondition(status.Conditions, name)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return ""
	}
	return condition.Reason
}
