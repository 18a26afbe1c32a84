package timewindowscaler

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
)

// A change of the target value needs no new poll, a change of the bounds no new value.
func TestEditsOfTheMetric(t *testing.T) {
	s := inWindow(t, 2)
	s.metricValue(300).poll(during)
	s.metricValue(300).poll(during)
	s.expectEffective(10, "")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.Target.AverageValue = "20" })
	s.poll(during)
	s.expectEffective(15, "")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.MaxReplicas = 12 })
	s.poll(during)
	s.expectEffective(12, "")
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.MaxReplicas = 30 })
	s.poll(during)
	s.expectEffective(15, "")
}

// A manual change is drift, even if it is within the metric's tolerance.
func TestDriftIsNotWhatTheMetricAskedFor(t *testing.T) {
	s := inWindow(t, 2)
	s.metricValue(150).poll(during)
	s.poll(during)
	s.expectEffective(5, "")
	s.obs.target = deployment(6, 6)
	s.metricValue(165).poll(during)
	s.expectEffective(5, "")
	s.expectEvents("ScaledDown")
	s.poll(during)
	s.metricValue(300).poll(during)
	s.expectEffective(10, "")
	s.expectEvents("ScaledUp")
}

func TestGraceHoldsADecreaseByMetric(t *testing.T) {
	s := inWindow(t, 2)
	s.tws.Spec.GracePeriodSeconds = 300
	s.metricValue(450).poll(during)
	s.expectEffective(15, "")
	s.metricValue(150).poll("2025-01-27 10:00:15")
	s.expectEffective(15, "2025-01-27 10:05:15")
	s.expectEvents("GracePeriodStarted")
	s.poll("2025-01-27 10:00:20") // between polls it continues
	s.expectEffective(15, "2025-01-27 10:05:15")
	s.metricValue(600).poll("2025-01-27 10:01:00")
	s.expectEffective(20, "")
	s.metricValue(150).poll("2025-01-27 10:02:00")
	s.metricValue(150).poll("2025-01-27 10:07:00")
	s.expectEffective(5, "")
	s.expectEvents("ScaledDown")
}

// Counts by a metric stay within its bounds, or are the previous count or the fallback.
func TestMetricBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := polled(t, 10)
		lowest := rapid.Int32Range(0, 30).Draw(rt, "lowest")
		highest := rapid.Int32Range(max(1, lowest), 40).Draw(rt, "highest")
		s.tws.Spec.Windows[0].Metric.MinReplicas, s.tws.Spec.Windows[0].Metric.MaxReplicas = &lowest, highest
		now := ist(during)
		for range rapid.IntRange(1, 12).Draw(rt, "passes") {
			before := ptr.Deref(s.tws.Status.EffectiveReplicas, 10)
			if rapid.Bool().Draw(rt, "value") {
				s.metricValue(rapid.Int64Range(0, 2000).Draw(rt, "depth"))
			} else {
				s.missPolls(1)
			}
			pass := s.passAt(now)
			s.obs.metric.before = pass.plan.metric
			got, misses := pass.plan.effective, s.obs.metric.sample.Misses
			if got != 10 && got != before && (got < lowest || got > highest) {
				rt.Fatalf("%d is outside [%d, %d]", got, lowest, highest)
			}
			if misses > 0 && got < min(before, 10) {
				rt.Fatalf("a failing metric took it from %d to %d, below the fallback", before, got)
			}
			if misses >= 3 && got != 10 {
				rt.Fatalf("%d after %d misses", got, misses)
			}
			now = now.Add(15 * time.Second)
		}
	})
}
