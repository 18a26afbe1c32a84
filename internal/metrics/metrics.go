// Package metrics holds Kyklos's own Prometheus metrics. Their names and labels are public
// contract (B12). Recording decides nothing, and all series
// of an object go with it: Forget.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	boundaryLateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "kyklos_boundary_lateness_seconds",
		Help:    "Time from the boundary to the successful write that it made due, all scalers together.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300},
	})

	reconcileDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "kyklos_reconcile_duration_seconds",
		Help:    "Duration of a pass over one scaler, all scalers together.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0},
	})

	listFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kyklos_target_list_failures_total",
		Help: "Failures to list or watch the objects of a further kind of targets, by reason.",
	}, []string{"group", "kind", "reason"})

	tzdataInfo = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_tzdata_info",
		Help: "Always 1; the label is the version of the embedded time zone database.",
	}, []string{"version"})
)

func init() {
	metrics.Registry.MustRegister(scalers, boundaryLateness, reconcileDuration, listFailures, tzdataInfo)
}

// RecordListFailure counts a failure to list or watch the objects of a kind.
func RecordListFailure(kind schema.GroupVersionKind, reason string) {
	listFailures.WithLabelValues(kind.Group, kind.Kind, reason).Inc()
}

// RecordBoundaryLateness observes how long after its boundary a write came, in seconds.
func RecordBoundaryLateness(seconds float64) {
	boundaryLateness.Observe(seconds)
}

// RecordReconcileDuration observes how long a pass took, in seconds.
func RecordReconcileDuration(seconds float64) {
	reconcileDuration.Observe(seconds)
}

// RecordTZData publishes the version of the embedded time zone database (T8).
func RecordTZData(version string) {
	tzdataInfo.WithLabelValues(version).Set(1)
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
