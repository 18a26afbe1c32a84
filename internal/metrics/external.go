package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

var (
	externalValue = gauge("kyklos_external_metric_value",
		"The last value of the metric that decides the replica count, summed over its series.", "namespace", "tws_name", "window", "metric")
	externalMisses = counter("kyklos_external_metric_misses_total",
		"Polls of a window's metric that got no value.", "namespace", "tws_name", "metric")
)

// lastExternal holds the labels that each scaler's value carries: NamespacedName to a pair of window and
// metric.
var lastExternal sync.Map

// RecordExternalMetric sets the value, in thousandths, of the metric that decides for a window; nil for
// none. The series of another window or metric goes.
func RecordExternalMetric(twsName, namespace, window, metric string, milli *int64) {
	key := types.NamespacedName{Namespace: namespace, Name: twsName}
	labels := [2]string{window, metric}
	if last, known := lastExternal.Load(key); known && (milli == nil || last != labels) {
		externalValue.DeletePartialMatch(prometheus.Labels{"namespace": namespace, "tws_name": twsName})
		lastExternal.Delete(key)
	}
	if milli != nil {
		lastExternal.Store(key, labels)
		externalValue.WithLabelValues(namespace, twsName, window, metric).Set(float64(*milli) / 1000)
	}
}

// RecordExternalMetricMiss counts a poll that got no value.
func RecordExternalMetricMiss(twsName, namespace, metric string) {
	externalMisses.WithLabelValues(namespace, twsName, metric).Inc()
}
