package scaling

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// The control plane serves external.metrics.k8s.io with its own API service behind the aggregator. Its values come from
// a ConfigMap of the namespace.

// byQueue wants one replica for each 30 of queue_depth in the office hours, from 1 to 20.
func byQueue(change ...func(*v1beta1.WindowMetric)) func(*v1beta1.TimeWindowScaler) {
	return func(tws *v1beta1.TimeWindowScaler) {
		m := &v1beta1.WindowMetric{
			Name:        "queue_depth",
			Target:      v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
			MaxReplicas: 20,
		}
		for _, c := range change {
			c(m)
		}
		tws.Spec.Windows[0].Metric = m
	}
}

// measured sets the values of queue_depth: a list, or "error: " and a text.
func (s *scenario) measured(says string) {
	s.Helper()
	s.Must(cluster.WriteExternalMetrics(s.Context(), s.namespace, map[string]string{"queue_depth": says}))
}

func TestTheMetricSetsTheCount(t *testing.T) {
	s := newScenario(t, "2025-02-03 08:59:00")
	s.target(2)
	s.measured(`[{value: "150"}]`)
	s.officeHours(byQueue())
	s.settles(2)
	if _, found := s.metric("kyklos_external_metric_value"); found {
		t.Error("the metric was polled before its window")
	}
	s.clock("2025-02-03 09:00:00")
	s.settles(5)
	// The boundary raises the target to the window's replicas, and the first answer to the metric's count.
	s.awaitEvents("ScaledUp", "Scaled up from 2 to 10 replicas (window: BusinessHours)")
	s.awaitEvents("ScaledDown", "Scaled down from 10 to 5 replicas (window: BusinessHours, metric queue_depth)")
	s.measures(150, "kyklos_external_metric_value", "window=BusinessHours", "metric=queue_depth")
	s.measured(`[{value: "100"}, {value: "110500m"}]`)
	s.settles(8) // the sum counts: 210.5 / 30
	s.measured(`[{value: "1"}]`)
	s.settles(1)
	s.measured(`[{value: "1M"}]`)
	s.settles(20)
	s.clock("2025-02-03 17:00:00")
	s.settles(2)
	s.awaitLastEvent("ScaledUp", "Scaled up from 1 to 20 replicas (window: BusinessHours, metric queue_depth)")
	s.awaitLastEvent("ScaledDown", "Scaled down from 20 to 2 replicas (window: OffHours)")
	s.measuresNothing("kyklos_external_metric_value")
	s.awaitEvents("MetricUnavailable")
}

// The target value applies to the metric as a whole. From zero replicas the ratio is used as it is, and a metric that
// more replicas do not lower leads to the maximum.
func TestAMetricOfTypeValue(t *testing.T) {
	s := newScenario(t, "2025-01-27 10:00:00")
	s.target(0)
	s.measured(`[{value: "0.6"}]`)
	s.officeHours(byQueue(func(m *v1beta1.WindowMetric) {
		m.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "0.6"}
		m.MinReplicas = ptr.To[int32](0)
	}))
	s.settles(1)
	s.measured(`[{value: "650m"}]`)
	s.measures(0.65, "kyklos_external_metric_value")
	s.settles(1) // within the tolerance
	s.measured(`[{value: "1.2"}]`)
	s.settles(20)
	s.measured(`[{value: "0"}]`)
	s.settles(0)
	s.equal("the spec's text", s.scaler().Spec.Windows[0].Metric.Target.Value, "0.6")
}

func TestTheSelectorChoosesSeries(t *testing.T) {
	s := newScenario(t, "2025-01-27 10:00:00")
	s.target(2)
	s.measured(`[{labels: {queue: mail}, value: "60"}, {labels: {queue: print}, value: "90"}, {value: "300"}]`)
	s.officeHours(byQueue(func(m *v1beta1.WindowMetric) {
		m.Selector = &v1beta1.MetricSelector{MatchLabels: map[string]v1beta1.LabelValue{"queue": "mail"}}
	}))
	s.settles(2)
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) {
		spec.Windows[0].Metric.Selector = &v1beta1.MetricSelector{
			MatchExpressions: []v1beta1.MetricSelectorRequirement{{Key: "queue", Operator: "In", Values: []string{"print", "mail"}}},
		}
	})
	s.settles(5)
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Metric.Selector = nil })
	s.settles(15)
}

// After any three failures in a row the window's replicas apply, and the status shows the reason. The next value ends
// it.
func TestAMetricWithoutAValue(t *testing.T) {
	for name, tc := range map[string]struct {
		says, because string
	}{
		"the service answers 500": {"error: the database is away", "the database is away"},
		"no series":               {"[]", "the metrics API returned no values: no series has this name and selector"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, "2025-01-27 10:00:00")
			s.target(2)
			s.measured(`[{value: "150"}]`)
			s.officeHours(byQueue())
			s.settles(5)
			s.measured(tc.says)
			s.settles(10)
			message := s.condition("Degraded", "True", v1beta1.ReasonMetricUnavailable)
			const begins = "Metric queue_depth has no value, so the replicas of window BusinessHours apply: "
			if !strings.HasPrefix(message, begins) || !strings.Contains(message, tc.because) {
				t.Errorf("Degraded says %q", message)
			}
			s.awaitEvents("MetricUnavailable", message)
			if misses, _ := s.metric("kyklos_external_metric_misses_total", "metric=queue_depth"); misses < 3 {
				t.Errorf("the fallback came after %v misses", misses)
			}
			s.measuresNothing("kyklos_external_metric_value")
			s.measured(`[{value: "90"}]`)
			s.settles(3)
			s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
			s.awaitEvents("MetricUnavailable", message) // once
		})
	}
}

// The API group disappears with its APIService, and returns with it.
func TestMetricsAPIDisappearsAndReturns(t *testing.T) {
	s := newScenario(t, "2025-01-27 10:00:00")
	s.target(2)
	s.measured(`[{value: "450"}]`)
	s.officeHours(byQueue())
	s.settles(15)

	service := &unstructured.Unstructured{}
	service.SetAPIVersion("apiregistration.k8s.io/v1")
	service.SetKind("APIService")
	s.Must(admin.Get(s.Context(), client.ObjectKey{Name: "v1beta1.external.metrics.k8s.io"}, service))
	s.Must(admin.Delete(s.Context(), service.DeepCopy()))
	bringBack := func() {
		back := service.DeepCopy()
		back.SetResourceVersion("")
		back.SetUID("")
		s.Must(client.IgnoreAlreadyExists(admin.Create(t.Context(), back)))
	}
	defer bringBack()
	s.settles(10)
	s.condition("Degraded", "True", v1beta1.ReasonMetricUnavailable)
	bringBack()
	s.settles(15)
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
}

// A decrease by the metric waits for the grace period, and writes of others are drift.
func TestGraceAndDriftUnderAMetric(t *testing.T) {
	s := newScenario(t, "2025-01-27 10:00:00")
	s.target(2)
	s.measured(`[{value: "150"}]`)
	s.officeHours(byQueue(), withGrace(60))
	s.settles(5)
	s.userScales(6)
	s.awaitEvents("ScaledDown", "Corrected manual drift: scaled down from 6 to 5 replicas (window: BusinessHours, metric queue_depth)")
	s.settles(5)
	s.measured(`[{value: "60"}]`)
	s.measures(1, "kyklos_in_grace_period")
	s.settles(5)
	s.clock("2025-01-27 10:02:00")
	s.settles(2)
}
