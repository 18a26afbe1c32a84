package timewindowscaler

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
)

// The last value applies for two misses; then the window's replicas apply, until there is a value again.
func TestThreeMisses(t *testing.T) {
	for name, tc := range map[string]struct {
		value int64
		last  int32
		event string
	}{
		"above the fallback": {450, 15, "ScaledDown"},
		"below the fallback": {90, 3, "ScaledUp"},
	} {
		t.Run(name, func(t *testing.T) {
			s := inWindow(t, 2)
			s.metricValue(tc.value).poll(during)
			for range 2 {
				s.missPolls(1).poll(during)
				s.expectEffective(tc.last, "")
				s.expectCondition("Degraded", "False/OperationalNormal")
				s.expectEvents()
			}
			s.missPolls(1).poll(during)
			s.expectEffective(10, "")
			s.expectCondition("Degraded", "True/MetricUnavailable")
			s.expectEvents("MetricUnavailable", tc.event)
			s.missPolls(1).poll(during)
			s.expectCondition("Ready", "True/Reconciled")
			s.expectEvents() // once for each outage
			s.metricValue(tc.value).poll(during)
			s.expectEffective(tc.last, "")
			s.expectCondition("Degraded", "False/OperationalNormal")
			s.missPolls(3).poll(during)
			s.expectEvents("MetricUnavailable", tc.event)
		})
	}
}

// The fallback is a decrease like any other.
func TestGraceHoldsTheFallback(t *testing.T) {
	s := inWindow(t, 2)
	s.tws.Spec.GracePeriodSeconds = 60
	s.metricValue(450).poll(during)
	s.missPolls(3).poll(during)
	s.expectEffective(15, "2025-01-27 10:01:00")
	s.missPolls(1).poll("2025-01-27 10:01:00")
	s.expectEffective(10, "")
}

// A metric that fails takes nothing below the fallback, not even to its last proposal.
func TestNothingGoesBelowTheFallbackWhileItFails(t *testing.T) {
	s := inWindow(t, 2)
	s.tws.Spec.GracePeriodSeconds = 60
	s.metricValue(450).poll(during)
	s.metricValue(90).poll(during)
	s.expectEffective(15, "2025-01-27 10:01:00")
	s.missPolls(1).poll("2025-01-27 10:01:00")
	s.expectEffective(10, "")
	s.metricValue(90).poll("2025-01-27 10:02:00")
	s.poll("2025-01-27 10:03:00")
	s.expectEffective(3, "")
}

// A rise to the fallback is the schedule's, and comes with the boundary: only a decrease waits for the
// first poll.
func TestEnteringTheWindow(t *testing.T) {
	s := inWindow(t, 2)
	s.expectEffective(10, "")
	s.expectTargetSpec(10)
	s.expectEvents("ScaledUp")
	s.poll("2025-01-27 09:00:00") // its pods come
	s.expectEffective(10, "")
	s.metricValue(150).poll("2025-01-27 09:00:01")
	s.expectEffective(5, "")
	s.expectEvents("ScaledDown")

	s = inWindow(t, 2)
	s.missPolls(1).poll("2025-01-27 09:00:01")
	s.expectEffective(10, "")

	s = inWindow(t, 14)
	s.expectEffective(14, "")
	s.expectCondition("Ready", "True/Reconciled")
	s.metricValue(390).poll("2025-01-27 09:00:01")
	s.expectEffective(14, "") // within the tolerance
	s.metricValue(300).poll("2025-01-27 09:00:16")
	s.expectEffective(10, "")

	s = inWindow(t, 14)
	s.obs.metric.sample = extmetric.Sample{Source: queueDepth, Answered: true} // the wait for the first poll is over
	s.poll("2025-01-27 09:00:05")
	s.expectEffective(10, "") // without a last value to keep

	s = inWindow(t, 14)
	s.missPolls(1).poll("2025-01-27 09:00:05")
	s.expectEffective(10, "")
	s.expectCondition("Degraded", "False/OperationalNormal")
	s.missPolls(2).poll("2025-01-27 09:00:35")
	s.expectCondition("Degraded", "True/MetricUnavailable")
}

// The first value is computed from the count before the rise to the fallback: the pods of the rise, which
// are not ready, would otherwise cancel it out.
func TestTheFirstValueAfterARise(t *testing.T) {
	for before, want := range map[int32]int32{0: 3, 2: 5} {
		s := inWindow(t, before)
		s.tws.Spec.Windows[0].Metric.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "100"}
		s.expectEffective(10, "")
		s.obs.target.Base().Ready = before
		s.metricValue(250).poll("2025-01-27 09:00:01")
		s.expectEffective(want, "")
	}
}

// While the first poll is not over, a target that others scaled below the count in force is corrected.
func TestDriftDownDoesNotWaitForTheFirstPoll(t *testing.T) {
	s := inWindow(t, 14)
	s.obs.target = deployment(3, 3)
	s.poll("2025-01-27 09:00:01")
	s.expectEffective(14, "")
	s.expectTargetSpec(14)
}

// The very first decision waits likewise, for any number of passes, and leaves the target as it
// was found. So does drift.
func TestTheFirstDecision(t *testing.T) {
	s := polled(t, 7)
	for range 3 {
		s.poll(during)
		s.expectEffective(7, "")
		s.expectTargetSpec(7)
	}
	s.metricValue(150).poll(during)
	s.expectEffective(5, "")
	s.restart()
	s.obs.target = deployment(9, 9)
	s.poll(during)
	s.expectEffective(5, "")
	s.expectTargetSpec(9)
	s.metricValue(150).poll(during)
	s.expectTargetSpec(5)
}

// A grace period that runs when the window starts continues until the first poll has ended.
func TestEnteringDuringGrace(t *testing.T) {
	s := polled(t, 14)
	s.tws.Spec.DefaultReplicas, s.tws.Spec.GracePeriodSeconds = intstr.FromInt32(5), 120
	s.tws.Status.EffectiveReplicas, s.tws.Status.TargetUID = ptr.To[int32](14), "d-1"
	s.poll("2025-01-27 08:59:00")
	s.expectEffective(14, "2025-01-27 09:01:00")
	s.poll("2025-01-27 09:00:00")
	s.expectEffective(14, "2025-01-27 09:01:00")
	s.metricValue(180).poll("2025-01-27 09:00:01")
	s.expectEffective(14, "2025-01-27 09:01:00")
	s.poll("2025-01-27 09:01:00")
	s.expectEffective(6, "")
}

// After a restart the last value is the status's, if the metric can have set it.
func TestRestart(t *testing.T) {
	s := inWindow(t, 2)
	s.metricValue(150).poll(during)
	s.restart().poll(during)
	s.expectEffective(5, "")
	s.missPolls(2).poll(during)
	s.expectEffective(5, "")
	s.missPolls(1).poll(during)
	s.expectEffective(10, "")

	s = inWindow(t, 2)
	s.metricValue(150).poll(during)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.MinReplicas = ptr.To[int32](6) })
	s.restart().missPolls(1).poll(during)
	s.expectEffective(10, "") // the metric could not have set 5

	s = inWindow(t, 2)
	s.metricValue(450).poll(during)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.MaxReplicas = 14 })
	s.restart().missPolls(1).poll(during)
	s.expectEffective(10, "") // nor 15
}

// A restart in the middle of an outage does not announce it again, and does not end it sooner.
func TestRestartInAnOutage(t *testing.T) {
	s := inWindow(t, 2)
	s.metricValue(150).poll(during)
	s.missPolls(3).poll(during)
	s.restart()
	for range 5 {
		s.poll(during)
		s.expectEffective(10, "")
		s.expectCondition("Degraded", "True/MetricUnavailable")
		s.expectEvents()
		s.missPolls(1)
	}
	s.metricValue(150).poll(during)
	s.expectEffective(5, "")
	s.expectCondition("Degraded", "False/OperationalNormal")
}

// After a restart in a grace period, it continues until the first poll has ended.
func TestRestartInGrace(t *testing.T) {
	s := inWindow(t, 2)
	s.tws.Spec.GracePeriodSeconds = 300
	s.metricValue(450).poll(during)
	s.metricValue(150).poll(during)
	s.expectEffective(15, "2025-01-27 10:05:00")
	s.restart().poll("2025-01-27 10:01:00")
	s.expectEffective(15, "2025-01-27 10:05:00")
	s.metricValue(150).poll("2025-01-27 10:01:01")
	s.expectEffective(15, "2025-01-27 10:05:00")
	s.poll("2025-01-27 10:05:00")
	s.expectEffective(5, "")
}

// A metric stored past admission that cannot be read leaves the target alone (B5).
func TestUnreadableMetric(t *testing.T) {
	s := polled(t, 3)
	s.tws.Spec.Windows[0].Metric.Target.AverageValue = "many"
	s.poll(during)
	s.expectCondition("Degraded", "True/InvalidConfiguration")
	s.expectTargetSpec(3)
}
