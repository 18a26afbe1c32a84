package timewindowscaler

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// The last value stands for two misses; then the window's replicas apply, until there is a value again.
func TestThreeMisses(t *testing.T) {
	for name, tc := range map[string]struct {
		value int64
		last  int32
		event string
	}{
		"above the fallback": {450, 15, "Scaled down from 15 to 10 replicas (window: BusinessHours)"},
		"below the fallback": {90, 3, "Scaled up from 3 to 10 replicas (window: BusinessHours)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := inWindow(t, 2)
			s.gets(tc.value).polls(during)
			for range 2 {
				s.misses(1).polls(during)
				s.keeps(tc.last, "")
				s.shows("Degraded", "False/OperationalNormal: Everything in the spec is at work")
				s.hears()
			}
			const says = "Metric queue_depth has no value, so the replicas of window BusinessHours apply: boom"
			s.misses(1).polls(during)
			s.keeps(10, "")
			s.shows("Degraded", "True/MetricUnavailable: "+says)
			s.hears(says, tc.event)
			s.misses(1).polls(during)
			s.shows("Ready", "True/Reconciled: Target has the desired 10 replicas (window: BusinessHours)")
			s.hears() // once for each outage
			s.gets(tc.value).polls(during)
			s.keeps(tc.last, "")
			s.shows("Degraded", "False/OperationalNormal: Everything in the spec is at work")
			s.misses(3).polls(during)
			s.hears(says, tc.event)
		})
	}
}

// The fallback is a decrease like any other.
func TestGraceHoldsTheFallback(t *testing.T) {
	s := inWindow(t, 2)
	s.tws.Spec.GracePeriodSeconds = 60
	s.gets(450).polls(during)
	s.misses(3).polls(during)
	s.keeps(15, "2025-01-27 10:01:00")
	s.misses(1).polls("2025-01-27 10:01:00")
	s.keeps(10, "")
}

// A metric that fails takes nothing below the fallback, not even what it asked for while it was well.
func TestNothingGoesBelowTheFallbackWhileItFails(t *testing.T) {
	s := inWindow(t, 2)
	s.tws.Spec.GracePeriodSeconds = 60
	s.gets(450).polls(during)
	s.gets(90).polls(during)
	s.keeps(15, "2025-01-27 10:01:00")
	s.misses(1).polls("2025-01-27 10:01:00")
	s.keeps(10, "")
	s.gets(90).polls("2025-01-27 10:02:00")
	s.polls("2025-01-27 10:03:00")
	s.keeps(3, "")
}

// A rise to the fallback is the schedule's, and comes with the boundary: only a decrease waits for the
// first poll.
func TestEnteringTheWindow(t *testing.T) {
	s := inWindow(t, 2)
	s.keeps(10, "")
	s.stands(10)
	s.hears("Scaled up from 2 to 10 replicas (window: BusinessHours)")
	s.polls("2025-01-27 09:00:00") // its pods come
	s.keeps(10, "")
	s.gets(150).polls("2025-01-27 09:00:01")
	s.keeps(5, "")
	s.hears("Scaled down from 10 to 5 replicas (window: BusinessHours, metric queue_depth)")

	s = inWindow(t, 2)
	s.misses(1).polls("2025-01-27 09:00:01")
	s.keeps(10, "")

	s = inWindow(t, 14)
	s.keeps(14, "")
	s.shows("Ready", "True/Reconciled: Target has the desired 14 replicas (window: BusinessHours)")
	s.gets(390).polls("2025-01-27 09:00:01")
	s.keeps(14, "") // within the tolerance
	s.gets(300).polls("2025-01-27 09:00:16")
	s.keeps(10, "")

	s = inWindow(t, 14)
	s.obs.metric.sample = metricSample{source: queueDepth, answered: true} // patience has ended
	s.polls("2025-01-27 09:00:05")
	s.keeps(10, "") // there is no last value to keep

	s = inWindow(t, 14)
	s.misses(1).polls("2025-01-27 09:00:05")
	s.keeps(10, "")
	s.shows("Degraded", "False/OperationalNormal: Everything in the spec is at work")
	s.misses(2).polls("2025-01-27 09:00:35")
	s.shows("Degraded", "True/MetricUnavailable: Metric queue_depth has no value, so the replicas of window BusinessHours apply: boom")
}

// The first value is reckoned from the count before the rise to the fallback: the pods of the rise, which
// are not ready, would else make nothing of it.
func TestTheFirstValueAfterARise(t *testing.T) {
	for before, want := range map[int32]int32{0: 3, 2: 5} {
		s := inWindow(t, before)
		s.tws.Spec.Windows[0].Metric.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "100"}
		s.keeps(10, "")
		s.obs.target.readyReplicas = before
		s.gets(250).polls("2025-01-27 09:00:01")
		s.keeps(want, "")
	}
}

// While the first poll is not over, a target that others took below the count in force is set right.
func TestDriftDownDoesNotWaitForTheFirstPoll(t *testing.T) {
	s := inWindow(t, 14)
	s.obs.target = deployment(3, 3)
	s.polls("2025-01-27 09:00:01")
	s.keeps(14, "")
	s.stands(14)
}

// The first decision of all waits likewise, however many passes that takes, and leaves the target as it
// was found. So does drift.
func TestTheFirstDecision(t *testing.T) {
	s := polled(t, 7)
	for range 3 {
		s.polls(during)
		s.keeps(7, "")
		s.stands(7)
	}
	s.gets(150).polls(during)
	s.keeps(5, "")
	s.restarts()
	s.obs.target = deployment(9, 9)
	s.polls(during)
	s.keeps(5, "")
	s.stands(9)
	s.gets(150).polls(during)
	s.stands(5)
}

// A grace period that is on when the window is entered goes on until the first poll is over.
func TestEnteringDuringGrace(t *testing.T) {
	s := polled(t, 14)
	s.tws.Spec.DefaultReplicas, s.tws.Spec.GracePeriodSeconds = intstr.FromInt32(5), 120
	s.tws.Status.EffectiveReplicas = ptr.To[int32](14)
	s.polls("2025-01-27 08:59:00")
	s.keeps(14, "2025-01-27 09:01:00")
	s.polls("2025-01-27 09:00:00")
	s.keeps(14, "2025-01-27 09:01:00")
	s.gets(180).polls("2025-01-27 09:00:01")
	s.keeps(14, "2025-01-27 09:01:00")
	s.polls("2025-01-27 09:01:00")
	s.keeps(6, "")
}

// After a restart the last value is the status's, if the metric can have set it.
func TestRestart(t *testing.T) {
	s := inWindow(t, 2)
	s.gets(150).polls(during)
	s.restarts().polls(during)
	s.keeps(5, "")
	s.misses(2).polls(during)
	s.keeps(5, "")
	s.misses(1).polls(during)
	s.keeps(10, "")

	s = inWindow(t, 2)
	s.gets(150).polls(during)
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.MinReplicas = ptr.To[int32](6) })
	s.restarts().misses(1).polls(during)
	s.keeps(10, "") // the metric could not have set 5

	s = inWindow(t, 2)
	s.gets(450).polls(during)
	s.edits(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.MaxReplicas = 14 })
	s.restarts().misses(1).polls(during)
	s.keeps(10, "") // nor 15
}

// A restart in the middle of an outage tells of it no second time, and ends it no sooner.
func TestRestartInAnOutage(t *testing.T) {
	s := inWindow(t, 2)
	s.gets(150).polls(during)
	s.misses(3).polls(during)
	const says = "True/MetricUnavailable: Metric queue_depth has no value, so the replicas of window BusinessHours apply: boom"
	s.restarts()
	for range 5 {
		s.polls(during)
		s.keeps(10, "")
		s.shows("Degraded", says)
		s.hears()
		s.misses(1)
	}
	s.gets(150).polls(during)
	s.keeps(5, "")
	s.shows("Degraded", "False/OperationalNormal: Everything in the spec is at work")
}

// After a restart in a grace period, that goes on until the first poll is over.
func TestRestartInGrace(t *testing.T) {
	s := inWindow(t, 2)
	s.tws.Spec.GracePeriodSeconds = 300
	s.gets(450).polls(during)
	s.gets(150).polls(during)
	s.keeps(15, "2025-01-27 10:05:00")
	s.restarts().polls("2025-01-27 10:01:00")
	s.keeps(15, "2025-01-27 10:05:00")
	s.gets(150).polls("2025-01-27 10:01:01")
	s.keeps(15, "2025-01-27 10:05:00")
	s.polls("2025-01-27 10:05:00")
	s.keeps(5, "")
}

// A metric stored past admission that cannot be read leaves the target alone (B5).
func TestUnreadableMetric(t *testing.T) {
	s := polled(t, 3)
	s.tws.Spec.Windows[0].Metric.Target.AverageValue = "many"
	s.polls(during)
	s.shows("Degraded", `True/InvalidConfiguration: spec.windows[0].metric.target.averageValue: Invalid value: "many": must be a quantity from 0.001 to 1P, such as "30", "0.5" or "500m"`)
	s.stands(3)
}
