// Package extmetric scales by external metrics: it polls the metric of the window that decides, and computes
// the replica count as a HorizontalPodAutoscaler would.
package extmetric

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/schedule"
)

// missesToFallBack is how many polls in a row may fail before a window's own replicas apply (A6).
const missesToFallBack = 3

// Source names an external metric as it is polled; the selector is in its text form.
type Source struct {
	Namespace, Name, Selector string
}

// Sample is the result of polling a source.
type Sample struct {
	Source Source
	// Value is the sum of the series' last values, in thousandths. Number identifies it: each poll with a
	// value has another. 0 means that there was none since polling began.
	Value  int64
	Number uint64
	// Misses counts failed polls since the last value. Problem describes the first of them, or the first
	// that failed in the way they do now.
	Misses  int
	Problem string
	// Answered is false until the first poll has ended or timed out.
	Answered bool
}

// Input is what a metric's count is decided by.
type Input struct {
	Scaler *v1beta1.TimeWindowScaler
	// Target is nil if it does not exist; Owned is true if another scaler owns it.
	Target target.Target
	Owned  bool
	// Metric is that of the window with the label Window, and Fallback are the window's own replicas.
	Metric   *schedule.Metric
	Window   string
	Fallback int32
	// Tolerance applies to all metrics.
	Tolerance float64
	// Sample is what polling came to, and Before what the last pass decided.
	Sample Sample
	Before Decision
}

// Decision is the result of a window's metric in one pass.
type Decision struct {
	// Window is the label of the window whose metric decides, "" without one; Metric is its name.
	Window, Metric string
	// Wanted is what to poll, nil for nothing.
	Wanted *Source
	// rule and number are what the proposal follows from: each value is used once, because the
	// proposal for Value grows with the pods that it brings up.
	rule   Rule
	number uint64
	// Proposal is the count that the metric asks for, before minReplicas and maxReplicas; nil if unknown.
	Proposal *int32
	// Failing: there were too many misses, and the window's own replicas apply. Trouble says why. Lost:
	// that began in this pass.
	Failing, Lost bool
	Trouble       string
	// Hold: the first poll is still running, and until it ends, for pollTimeout at most, nothing is taken
	// away: otherwise a window would start with a fallback that is lower than what the metric asks for. A
	// rise to the fallback never waits, because the schedule asks for it.
	Hold bool
	// first: no boundary was passed since the very first decision, so even a rise can wait.
	first bool
	// from is the count that the first value is computed from, while the first poll is running: the one
	// before the window rose to its fallback, whose pods are not there yet. nil afterwards.
	from *int32
	// Value is the last one, in thousandths; nil if there is none that counts.
	Value *int64
	// Replicas is what the window wants.
	Replicas int32
}

// Decide returns what the metric of a window asks for. A metric that fails keeps its last count for two
// polls; from the third miss the fallback applies until there is a value again. While it fails it takes
// nothing away below the fallback.
func Decide(in Input) Decision {
	m, sample, before := in.Metric, in.Sample, in.Before
	source := Source{Namespace: in.Scaler.Namespace, Name: m.Name, Selector: m.Selector.String()}
	if before.Window != in.Window {
		before = fromStatus(in)
	}
	if sample.Source != source {
		sample = Sample{} // of another metric
	}
	d := Decision{
		Window: in.Window, Metric: m.Name, Proposal: before.Proposal, number: sample.Number,
		rule: Rule{Type: string(m.Type), Target: m.Target, Tolerance: in.Tolerance},
	}
	switch {
	case sample.Misses >= missesToFallBack:
		d.Failing, d.Lost = true, !before.Failing
		d.Trouble = fmt.Sprintf("Metric %s has no value, so the replicas of window %s apply: %s", m.Name, in.Window, sample.Problem)
	case sample.Number == 0 && before.Failing: // the same outage, seen before a restart or an edit
		d.Failing, d.Trouble = true, before.Trouble
	}
	current := CurrentCount(in.Scaler, in.Target)
	if in.Target != nil && !in.Owned {
		d.Wanted = &source
		from := ptr.Deref(before.from, current)
		if sample.Number != 0 && (before.number != sample.Number || before.rule != d.rule) {
			d.Proposal = ptr.To(propose(d.rule, sample.Value, from, in.Target.Base()))
		}
		if !sample.Answered {
			d.from = &from
		}
	}
	if sample.Number != 0 && !d.Failing {
		d.Value = &sample.Value
	}
	d.Replicas = in.Fallback
	if d.Proposal != nil && !d.Failing {
		d.Replicas = Clamp(*d.Proposal, m.Lowest, m.Highest)
		if sample.Misses > 0 {
			d.Replicas = max(d.Replicas, min(in.Fallback, current))
		}
	}
	d.first = d.from != nil && (in.Scaler.Status.EffectiveReplicas == nil || before.first)
	d.Hold = d.from != nil && (d.first || d.Replicas <= current)
	return d
}

// propose keeps the count in force while the metric is within the tolerance, not the count that others may
// have set: that is drift.
func propose(rule Rule, value int64, current int32, t *target.Common) int32 {
	p := rule.Propose(value, State{Current: current, Observed: t.Observed, Ready: t.Ready})
	if p.Keep {
		return current
	}
	return p.Replicas
}

// CurrentCount is the count in force: the effective one, and before the first decision the target's own.
func CurrentCount(tws *v1beta1.TimeWindowScaler, t target.Target) int32 {
	switch {
	case tws.Status.EffectiveReplicas != nil:
		return *tws.Status.EffectiveReplicas
	case t != nil:
		return t.Base().Spec
	default:
		return 0
	}
}

// fromStatus restores the last decision about the window after a restart: the effective count, if the metric
// can have set it, and whether the metric was failing.
func fromStatus(in Input) Decision {
	var d Decision
	status := &in.Scaler.Status
	if status.CurrentWindow != in.Window || status.EffectiveReplicas == nil {
		return d
	}
	if count := *status.EffectiveReplicas; in.Metric.Lowest <= count && count <= in.Metric.Highest {
		d.Proposal = ptr.To(count)
	}
	degraded := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionDegraded)
	if degraded != nil && degraded.Reason == v1beta1.ReasonMetricUnavailable {
		d.Failing, d.Trouble = true, degraded.Message
	}
	return d
}
