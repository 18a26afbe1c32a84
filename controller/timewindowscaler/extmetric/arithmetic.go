package extmetric

import "math"

// This file computes replica counts from an external metric as the HorizontalPodAutoscaler does (A6): its
// External metric source, with the target types Value and AverageValue. It is pure and imports nothing of
// Kubernetes; testdata/external.csv holds the answers of Kubernetes' own calculator.

// The target types of a metric (autoscaling/v2, MetricTarget).
const (
	// TypeValue compares the metric itself with the target.
	TypeValue = "Value"
	// TypeAverageValue compares the metric divided by the replica count.
	TypeAverageValue = "AverageValue"
)

// DefaultTolerance is that of kube-controller-manager: --horizontal-pod-autoscaler-tolerance.
const DefaultTolerance = 0.1

// Rule is what a metric is compared with.
type Rule struct {
	// Type is Value or AverageValue.
	Type string
	// Target is the value to keep, in thousandths; above 0.
	Target int64
	// Tolerance is the part of the target by which the metric may miss it, from 0 to below 1.
	Tolerance float64
}

// State is the workload as it is. All counts are 0 or more.
type State struct {
	// Current is the replica count in force: the spec's.
	Current int32
	// Observed is how many replicas there are.
	Observed int32
	// Ready is how many of them are ready. For AverageValue it does not matter.
	Ready int32
}

// Proposal is what a metric asks for, before any minimum and maximum.
type Proposal struct {
	// Replicas is the HPA's answer.
	Replicas int32
	// Keep: the metric is within the tolerance, or there are no pods yet to compute from. For
	// AverageValue, Replicas is then State.Observed, which during a rollout is not the count in force.
	Keep bool
}

// Sum adds up the values of a metric's series, in thousandths, and stays within int64.
func Sum(milli []int64) int64 {
	var sum int64
	for _, value := range milli {
		switch {
		case value > 0 && sum > math.MaxInt64-value:
			return math.MaxInt64
		case value < 0 && sum < math.MinInt64-value:
			return math.MinInt64
		}
		sum += value
	}
	return sum
}

// Propose returns how many replicas a metric of the given value, in thousandths, asks for.
func (r Rule) Propose(milli int64, s State) Proposal {
	if r.Type == TypeAverageValue {
		return r.proposeAverage(milli, s)
	}
	ratio := float64(milli) / float64(r.Target)
	switch {
	case s.Current == 0: // there is nothing to multiply
		return Proposal{Replicas: ceil(ratio)}
	case r.within(ratio):
		return Proposal{Replicas: s.Current, Keep: true}
	case s.Observed == 0 && s.Ready == 0: // the HPA reports an error here and changes nothing
		return Proposal{Replicas: s.Current, Keep: true}
	default:
		return Proposal{Replicas: ceil(ratio * float64(s.Ready))}
	}
}

// proposeAverage: with no replicas the ratio is infinite, or not a number if the metric is 0 too;
// neither is within any tolerance.
func (r Rule) proposeAverage(milli int64, s State) Proposal {
	if r.within(float64(milli) / (float64(r.Target) * float64(s.Observed))) {
		return Proposal{Replicas: s.Observed, Keep: true}
	}
	return Proposal{Replicas: ceil(float64(milli) / float64(r.Target))}
}

func (r Rule) within(ratio float64) bool {
	return 1-r.Tolerance <= ratio && ratio <= 1+r.Tolerance
}

// Clamp brings replicas into [lowest, highest].
func Clamp(replicas, lowest, highest int32) int32 {
	return max(lowest, min(highest, replicas))
}

// ceil rounds up, and stays within int32: what a float beyond it becomes is up to the processor.
func ceil(replicas float64) int32 {
	return int32(max(math.MinInt32, min(math.MaxInt32, math.Ceil(replicas))))
}
