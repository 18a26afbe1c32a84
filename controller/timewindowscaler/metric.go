package timewindowscaler

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/hpa"
	"kyklos.io/kyklos/internal/schedule"
)

// missesToFallBack is how many polls in a row may fail before a window's own replicas apply (A6).
const missesToFallBack = 3

// metricSource names an external metric as it is asked for; the selector is in its text form.
type metricSource struct {
	namespace, name, selector string
}

// metricSample is what polling a source has come to.
type metricSample struct {
	source metricSource
	// value is the sum of the series' last values, in thousandths; number tells values apart, each poll
	// that gets one has another. 0 means that there was none since polling began.
	value  int64
	number uint64
	// misses counts failed polls since the last value, and problem says what the first of them, or of
	// those that fail in another way since, came back with.
	misses  int
	problem string
	// answered is false until the first poll is over, however it ended, or takes too long.
	answered bool
}

// metricObservation is what a plan knows of metrics: the polls, what the last pass made of them, and the
// tolerance of all metrics.
type metricObservation struct {
	tolerance float64
	sample    metricSample
	before    metricDecision
}

// metricDecision is what a window's metric comes to in one pass.
type metricDecision struct {
	// window is the label of the window whose metric decides, "" without one; metric is its name.
	window, metric string
	// wanted is what to poll, nil for nothing.
	wanted *metricSource
	// rule and number are what the proposal follows from: a value is made use of once, because the
	// proposal for Value grows with the pods that it brings up.
	rule   hpa.Rule
	number uint64
	// proposal is the count that the metric asks for, before minReplicas and maxReplicas; nil if unknown.
	proposal *int32
	// failing: there were too many misses, and the window's own replicas apply. trouble says so, and why.
	failing bool
	trouble string
	// lost: the metric began to fail in this pass.
	lost bool
	// hold: the first poll is not over, and until then, for pollPatience at most, nothing is taken away:
	// a window would else begin with a fallback that is lower than what the answer asks for. A rise to
	// the fallback never waits, for it is the schedule's.
	hold bool
	// first: no boundary was passed since the first decision of all, so a rise too can wait for the answer.
	first bool
	// from is the count that the first value is reckoned from, while the first poll is not over: the one
	// before the window rose to its fallback, whose pods are not there yet. nil afterwards.
	from *int32
	// value is the last one, in thousandths; nil if there is none that counts.
	value *int64
	// replicas is what the window wants.
	replicas int32
}

// decideMetric returns what the metric of a window asks for. label is the window's, fallback the
// replicas of its own. A metric that fails keeps its last count for two polls, and from the third miss
// the fallback applies until there is a value again. While it fails it takes nothing below the fallback
// that is not there yet.
func decideMetric(tws *v1beta1.TimeWindowScaler, obs observation, m schedule.Metric, label string, fallback int32) metricDecision {
	source := metricSource{namespace: tws.Namespace, name: m.Name, selector: m.Selector.String()}
	before, sample := obs.metric.before, obs.metric.sample
	if before.window != label {
		before = recalled(tws, m, label)
	}
	if sample.source != source {
		sample = metricSample{} // of another metric
	}
	d := metricDecision{
		window: label, metric: m.Name, proposal: before.proposal,
		rule: hpa.Rule{Type: string(m.Type), Target: m.Target, Tolerance: obs.metric.tolerance}, number: sample.number,
	}
	switch {
	case sample.misses >= missesToFallBack:
		d.failing, d.lost, d.trouble = true, !before.failing, unavailable(m.Name, label, sample.problem)
	case sample.number == 0 && before.failing: // the same outage, seen before a restart or an edit
		d.failing, d.trouble = true, before.trouble
	}
	current := currentCount(tws, obs)
	if obs.target != nil && obs.owner == "" {
		d.wanted = &source
		from := ptr.Deref(before.from, current)
		if sample.number != 0 && (before.number != sample.number || before.rule != d.rule) {
			d.proposal = ptr.To(propose(d.rule, sample.value, from, obs.target))
		}
		if !sample.answered {
			d.from = &from
		}
	}
	if sample.number != 0 && !d.failing {
		d.value = &sample.value
	}
	d.replicas = fallback
	if d.proposal != nil && !d.failing {
		d.replicas = hpa.Clamp(*d.proposal, m.Lowest, m.Highest)
		if sample.misses > 0 {
			d.replicas = max(d.replicas, min(fallback, current))
		}
	}
	d.first = d.from != nil && (tws.Status.EffectiveReplicas == nil || before.first)
	d.hold = d.from != nil && (d.first || d.replicas <= current)
	return d
}

// propose asks the HPA's arithmetic. What is within the tolerance keeps the count in force, not the one
// that others may have set: that is drift.
func propose(rule hpa.Rule, value int64, current int32, t *target) int32 {
	p := rule.Propose(value, hpa.State{Current: current, Observed: t.observedReplicas, Ready: t.readyReplicas})
	if p.Keep {
		return current
	}
	return p.Replicas
}

// currentCount is the count in force: the effective one, and before the first decision the target's own.
func currentCount(tws *v1beta1.TimeWindowScaler, obs observation) int32 {
	switch {
	case tws.Status.EffectiveReplicas != nil:
		return *tws.Status.EffectiveReplicas
	case obs.target != nil:
		return obs.target.specReplicas
	default:
		return 0
	}
}

// recalled is what the status tells of the last decision about the window, after a restart: the
// effective count, if the metric can have set it, and whether the metric was failing.
func recalled(tws *v1beta1.TimeWindowScaler, m schedule.Metric, label string) metricDecision {
	var d metricDecision
	status := &tws.Status
	if status.CurrentWindow != label || status.EffectiveReplicas == nil {
		return d
	}
	if count := *status.EffectiveReplicas; m.Lowest <= count && count <= m.Highest {
		d.proposal = ptr.To(count)
	}
	degraded := meta.FindStatusCondition(status.Conditions, v1beta1.ConditionDegraded)
	if degraded != nil && degraded.Reason == v1beta1.ReasonMetricUnavailable {
		d.failing, d.trouble = true, degraded.Message
	}
	return d
}

// metricOf returns the metric of the window with the given index; false if that is none, or has none.
func metricOf(tws *v1beta1.TimeWindowScaler, window int) (schedule.Metric, bool) {
	if window < 0 || tws.Spec.Windows[window].Metric == nil {
		return schedule.Metric{}, false
	}
	metric, errs := schedule.ReadMetric(tws.Spec.Windows[window].Metric, field.NewPath("metric"))
	return metric, len(errs) == 0
}

// unavailable says for condition and event alike that a metric has failed.
func unavailable(metric, window, problem string) string {
	return fmt.Sprintf("Metric %s has no value, so the replicas of window %s apply: %s", metric, window, problem)
}

// heldCount is the count in force, with a grace period if one runs, for as long as nothing is decided.
func heldCount(tws *v1beta1.TimeWindowScaler, obs observation) (int32, grace) {
	var running grace
	if expiry := tws.Status.GracePeriodExpiry; expiry != nil {
		running.expiry = &expiry.Time
	}
	return currentCount(tws, obs), running
}
