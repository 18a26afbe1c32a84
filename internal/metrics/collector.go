package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// The series of one scaler. Gauges that are 0 most of the time have a series only while they are not: with a
// thousand scalers, series decide how large a scrape is.
var (
	effectiveReplicas = describe("kyklos_effective_replicas",
		"The replica count that the target should have, by the window that decides.", "window")
	degraded = describe("kyklos_degraded",
		"1 while the condition Degraded is true, else 0.")
	nextDue = describe("kyklos_next_due_timestamp_seconds",
		"Unix time of the next change that time alone brings: a window's start or end, the end of a grace period, local midnight where holidays count.")
	inGracePeriod = describe("kyklos_in_grace_period",
		"1 while a lower replica count is held back by the grace period; otherwise there is no series.", "window")
	pauseActive = describe("kyklos_pause_active",
		"1 while spec.pause is true; otherwise there is no series.")
	replicaDrift = describe("kyklos_replica_drift",
		"Distance between the observed and the effective replica count; there is no series while it is 0.")
	holidayOverride = describe("kyklos_holiday_override_active",
		"1 while a holiday decides the replica count; otherwise there is no series.")
	fieldFight = describe("kyklos_field_fight",
		"1 while others rewrite the target's replica count again and again; otherwise there is no series.")
	externalValue = describe("kyklos_external_metric_value",
		"The last value of the metric that decides the replica count, summed over its series.", "window", "metric")

	scaleEvents = describe("kyklos_scale_events_total",
		"Changes of a target's replica count, by direction (up or down).", "direction")
	driftCorrections = describe("kyklos_manual_drift_corrections_total",
		"Changes of a target's replica count by others that were set right.")
	scaleFailures = describe("kyklos_scale_failures_total",
		"Passes that could not do what was due, by reason.", "reason")
	externalMisses = describe("kyklos_external_metric_misses_total",
		"Polls of a window's metric that got no value.", "metric")
)

// scrapedScalers is how many series there are.
var scrapedScalers = describeSize("TimeWindowScaler")

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"namespace", "tws_name"}, labels...), nil)
}

// Describe implements prometheus.Collector.
func (c *scalerCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		effectiveReplicas, degraded, nextDue, inGracePeriod, pauseActive, replicaDrift, holidayOverride, fieldFight, externalValue,
		scaleEvents, driftCorrections, scaleFailures, externalMisses, scrapedScalers,
	} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *scalerCollector) Collect(to chan<- prometheus.Metric) {
	var s scrape
	for _, one := range c.published() {
		s.of(label("namespace", one.Namespace), label("tws_name", one.Name))
		if one.passed {
			s.gauges(&one.state)
		}
		s.counters(&one.record)
	}
	s.send(to, scrapedScalers)
}

func (s *scrape) gauges(state *State) {
	always := func(desc *prometheus.Desc, value float64, labels ...*dto.LabelPair) {
		s.add(desc, prometheus.GaugeValue, value, labels...)
	}
	unlessZero := func(desc *prometheus.Desc, value float64, labels ...*dto.LabelPair) {
		if value != 0 {
			always(desc, value, labels...)
		}
	}
	if state.Window != "" {
		window := label("window", state.Window)
		always(effectiveReplicas, float64(state.EffectiveReplicas), window)
		unlessZero(inGracePeriod, boolean(state.InGracePeriod), window)
	}
	always(degraded, boolean(state.Degraded))
	if !state.Due.IsZero() {
		always(nextDue, float64(state.Due.Unix()))
	}
	unlessZero(pauseActive, boolean(state.Paused))
	unlessZero(replicaDrift, float64(state.Drift))
	unlessZero(holidayOverride, boolean(state.HolidayOverride))
	unlessZero(fieldFight, boolean(state.FieldFight))
	if external := state.External; external != nil {
		always(externalValue, float64(external.Milli)/1000, label("window", external.Window), label("metric", external.Metric))
	}
}

func (s *scrape) counters(record *record) {
	count := func(desc *prometheus.Desc, count int, labels ...*dto.LabelPair) {
		if count > 0 {
			s.add(desc, prometheus.CounterValue, float64(count), labels...)
		}
	}
	count(scaleEvents, record.ups, label("direction", "up"))
	count(scaleEvents, record.downs, label("direction", "down"))
	count(driftCorrections, record.corrections)
	for reason, failures := range record.failures {
		count(scaleFailures, failures, label("reason", reason))
	}
	for metric, misses := range record.misses {
		count(externalMisses, misses, label("metric", metric))
	}
}
