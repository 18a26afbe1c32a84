package metrics_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/metrics"
)

// B12: the series is deleted with its window, with its metric, with the object, and when the value is unknown.
func TestTheExternalMetricsSeries(t *testing.T) {
	record := func(window, metric string, milli ...int64) {
		state := metrics.State{Window: "W"}
		if len(milli) > 0 {
			state.External = &metrics.External{Window: window, Metric: metric, Milli: milli[0]}
		}
		metrics.RecordState("web", "external", state)
	}
	shows := func(want ...string) {
		t.Helper()
		expect(t, want, `namespace="external"`, "kyklos_external_metric_value")
	}
	record("", "")
	shows()
	record("peak", "queue", 1500)
	shows(`kyklos_external_metric_value{metric="queue",namespace="external",tws_name="web",window="peak"} 1.5`)
	record("peak", "queue", 2000)
	shows(`kyklos_external_metric_value{metric="queue",namespace="external",tws_name="web",window="peak"} 2`)
	record("night", "queue", 3000)
	shows(`kyklos_external_metric_value{metric="queue",namespace="external",tws_name="web",window="night"} 3`)
	record("night", "lag", 0)
	shows(`kyklos_external_metric_value{metric="lag",namespace="external",tws_name="web",window="night"} 0`)
	record("night", "lag")
	shows()
	record("night", "lag", 4000)
	metrics.RecordExternalMetricMiss("web", "external", "lag")
	metrics.RecordExternalMetricMiss("web", "external", "lag")
	expect(t, []string{
		`kyklos_external_metric_misses_total{metric="lag",namespace="external",tws_name="web"} 2`,
		`kyklos_external_metric_value{metric="lag",namespace="external",tws_name="web",window="night"} 4`,
	}, `namespace="external"`, "kyklos_external")
	metrics.Forget(types.NamespacedName{Namespace: "external", Name: "web"})
	expect(t, nil, `namespace="external"`)
	record("night", "lag") // nothing is left to be dropped
	shows()
}
