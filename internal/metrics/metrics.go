// Package metrics holds Kyklos's own Prometheus metrics. Their names and labels are public
// contract (B12). Recording decides nothing, and all series
// of an object go with it: Forget.
package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	scaler       = []string{"namespace", "tws_name"}
	scalerWindow = append(scaler, "window")

	scaleEvents = counter("kyklos_scale_events_total",
		"Changes of a target's replica count, by direction (up or down).", append(scaler, "direction")...)
	scaleFailures = counter("kyklos_scale_failures_total",
		"Requests that failed or were refused, by reason.", append(scaler, "reason")...)
	driftCorrections = counter("kyklos_manual_drift_corrections_total",
		"Changes of a target's replica count by others that were set right.", scaler...)
	effectiveReplicas = gauge("kyklos_effective_replicas",
		"The replica count that the target should have, by the window that decides.", scalerWindow...)
	inGracePeriod = gauge("kyklos_in_grace_period",
		"1 while a lower replica count is held back by the grace period, else 0.", scalerWindow...)
	pauseActive = gauge("kyklos_pause_active",
		"1 while spec.pause is true, else 0.", scaler...)
	replicaDrift = gauge("kyklos_replica_drift",
		"Distance between the observed and the effective replica count.", scaler...)
	holidayOverride = gauge("kyklos_holiday_override_active",
		"1 while a holiday decides the replica count, else 0.", scaler...)
	degraded = gauge("kyklos_degraded",
		"1 while the condition Degraded is true, else 0.", scaler...)
	fieldFight = gauge("kyklos_field_fight",
		"1 while others rewrite the target's replica count again and again, else 0.", scaler...)
	nextDue = gauge("kyklos_next_due_timestamp_seconds",
		"Unix time of the next change that time alone brings: a window's start or end, the end of a grace period, local midnight where holidays count.", scaler...)
	boundaryLateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "kyklos_boundary_lateness_seconds",
		Help:    "Time from the boundary to the successful write that it made due, all scalers together.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300},
	})

	reconcileDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "kyklos_reconcile_duration_seconds",
		Help:    "Duration of a pass over one scaler.",
		Buckets: []float64{0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0},
	}, scaler)

	listFailures = counter("kyklos_target_list_failures_total",
		"Failures to list or watch the objects of a further kind of targets, by reason.", "group", "kind", "reason")

	tzdataInfo = gauge("kyklos_tzdata_info",
		"Always 1; the label is the version of the embedded time zone database.", "version")
)

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

// perScaler are the metrics whose series belong to one object.
var perScaler = []interface {
	prometheus.Collector
	DeletePartialMatch(prometheus.Labels) int
}{
	scaleEvents, scaleFailures, driftCorrections, effectiveReplicas, inGracePeriod,
	pauseActive, replicaDrift, holidayOverride, degraded, fieldFight, reconcileDuration,
	externalValue, externalMisses, nextDue,
}

// lastWindow holds the window label that each scaler's series carry: NamespacedName to string.
var lastWindow sync.Map

func init() {
	for _, collector := range perScaler {
		metrics.Registry.MustRegister(collector)
	}
	metrics.Registry.MustRegister(boundaryLateness, listFailures, tzdataInfo)
}

// State is what the gauges of one scaler show.
type State struct {
	// Window is the window that decides; without one, the gauges labelled by window have no series.
	Window            string
	EffectiveReplicas int32
	// Drift is the distance of observed and effective replicas, 0 or more.
	Drift           int32
	InGracePeriod   bool
	Paused          bool
	HolidayOverride bool
	Degraded        bool
	FieldFight      bool
	// Due is the next change that time alone brings, or the one that is overdue; zero if there is none.
	Due time.Time
}

// RecordScaleEvent counts one change of a target's replica count.
func RecordScaleEvent(twsName, namespace string, fromReplicas, toReplicas int32) {
	direction := "up"
	if toReplicas < fromReplicas {
		direction = "down"
	}
	scaleEvents.WithLabelValues(namespace, twsName, direction).Inc()
}

// RecordScaleFailure counts a pass that could not do what was due.
func RecordScaleFailure(twsName, namespace, reason string) {
	scaleFailures.WithLabelValues(namespace, twsName, reason).Inc()
}

// RecordDriftCorrection counts one correction of manual drift.
func RecordDriftCorrection(twsName, namespace string) {
	driftCorrections.WithLabelValues(namespace, twsName).Inc()
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
func RecordReconcileDuration(twsName, namespace string, seconds float64) {
	reconcileDuration.WithLabelValues(namespace, twsName).Observe(seconds)
}

// RecordTZData publishes the version of the embedded time zone database (T8).
func RecordTZData(version string) {
	tzdataInfo.WithLabelValues(version).Set(1)
}

// RecordStateChange sets one scaler's gauges. Where the window changed, the old window's series
// are dropped (B12).
func RecordStateChange(twsName, namespace string, state State) {
	labels := prometheus.Labels{"namespace": namespace, "tws_name": twsName}
	key := types.NamespacedName{Namespace: namespace, Name: twsName}
	if last, known := lastWindow.Swap(key, state.Window); known && last != state.Window {
		effectiveReplicas.DeletePartialMatch(labels)
		inGracePeriod.DeletePartialMatch(labels)
	}
	if state.Window != "" {
		effectiveReplicas.WithLabelValues(namespace, twsName, state.Window).Set(float64(state.EffectiveReplicas))
		inGracePeriod.WithLabelValues(namespace, twsName, state.Window).Set(boolean(state.InGracePeriod))
	}
	pauseActive.With(labels).Set(boolean(state.Paused))
	replicaDrift.With(labels).Set(float64(state.Drift))
	holidayOverride.With(labels).Set(boolean(state.HolidayOverride))
	degraded.With(labels).Set(boolean(state.Degraded))
	fieldFight.With(labels).Set(boolean(state.FieldFight))
	if state.Due.IsZero() {
		nextDue.Delete(labels)
	} else {
		nextDue.With(labels).Set(float64(state.Due.Unix()))
	}
}

// Forget drops every series of a scaler that is gone.
func Forget(key types.NamespacedName) {
	lastWindow.Delete(key)
	lastExternal.Delete(key)
	labels := prometheus.Labels{"namespace": key.Namespace, "tws_name": key.Name}
	for _, collector := range perScaler {
		collector.DeletePartialMatch(labels)
	}
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
