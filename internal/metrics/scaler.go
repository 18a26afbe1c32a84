package metrics

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

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
	// External is the metric that decides for a window, nil if none does or it has no value.
	External *External
}

// External is the value of a window's metric, in thousandths.
type External struct {
	Window, Metric string
	Milli          int64
}

// record is all that is published about one scaler.
type record struct {
	state *State // nil before the first pass that was completed
	// ups and downs count changes of the target, corrections those of manual drift.
	ups, downs, corrections int
	// failures are counted by reason, misses by metric.
	failures, misses map[string]int
}

// scalers has the records of all scalers. The series are made of them at each scrape, so none outlives what
// it shows.
var scalers = &collector{records: map[types.NamespacedName]*record{}}

type collector struct {
	mu      sync.Mutex
	records map[types.NamespacedName]*record
}

func (c *collector) change(name, namespace string, change func(*record)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if c.records[key] == nil {
		c.records[key] = &record{failures: map[string]int{}, misses: map[string]int{}}
	}
	change(c.records[key])
}

// RecordState sets what one scaler's gauges show.
func RecordState(twsName, namespace string, state State) {
	scalers.change(twsName, namespace, func(r *record) { r.state = &state })
}

// RecordScaleEvent counts one change of a target's replica count.
func RecordScaleEvent(twsName, namespace string, fromReplicas, toReplicas int32) {
	scalers.change(twsName, namespace, func(r *record) {
		if toReplicas < fromReplicas {
			r.downs++
		} else {
			r.ups++
		}
	})
}

// RecordScaleFailure counts a pass that could not do what was due.
func RecordScaleFailure(twsName, namespace, reason string) {
	scalers.change(twsName, namespace, func(r *record) { r.failures[reason]++ })
}

// RecordDriftCorrection counts one correction of manual drift.
func RecordDriftCorrection(twsName, namespace string) {
	scalers.change(twsName, namespace, func(r *record) { r.corrections++ })
}

// RecordExternalMetricMiss counts a poll that got no value.
func RecordExternalMetricMiss(twsName, namespace, metric string) {
	scalers.change(twsName, namespace, func(r *record) { r.misses[metric]++ })
}

// Forget drops every series of a scaler that is gone.
func Forget(key types.NamespacedName) {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	delete(scalers.records, key)
}
