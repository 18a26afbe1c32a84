package metrics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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
	state State
	// passed: there was a pass that was completed, and so a state.
	passed bool
	// ups and downs count changes of the target, corrections those of manual drift.
	ups, downs, corrections int
	// failures are counted by reason, misses by metric; nil before the first one.
	failures, misses map[string]int
}

// scalers has the records of all scalers. The series are made of them at each scrape, so none outlives what
// it shows.
var scalers = &scalerCollector{records: map[types.NamespacedName]*record{}}

type scalerCollector struct {
	mu      sync.Mutex
	records map[types.NamespacedName]*record
}

func (c *scalerCollector) change(name, namespace string, change func(*record)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if c.records[key] == nil {
		c.records[key] = &record{}
	}
	change(c.records[key])
}

// published is what is known of one scaler.
type published struct {
	types.NamespacedName
	record
}

// published returns what is known now, sorted as the series of a scrape are: that is cheaper than to sort each metric. A
// scrape takes long enough to keep passes waiting, so it gets copies.
func (c *scalerCollector) published() []published {
	c.mu.Lock()
	all := make([]published, 0, len(c.records))
	for key, r := range c.records {
		one := *r
		one.failures, one.misses = maps.Clone(r.failures), maps.Clone(r.misses)
		all = append(all, published{key, one})
	}
	c.mu.Unlock()
	slices.SortFunc(all, func(a, b published) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return all
}

func increment(counts *map[string]int, what string) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	(*counts)[what]++
}

// RecordState sets what one scaler's gauges show.
func RecordState(twsName, namespace string, state State) {
	scalers.change(twsName, namespace, func(r *record) { r.state, r.passed = state, true })
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
	scalers.change(twsName, namespace, func(r *record) { increment(&r.failures, reason) })
}

// RecordDriftCorrection counts one correction of manual drift.
func RecordDriftCorrection(twsName, namespace string) {
	scalers.change(twsName, namespace, func(r *record) { r.corrections++ })
}

// RecordExternalMetricMiss counts a poll that got no value.
func RecordExternalMetricMiss(twsName, namespace, metric string) {
	scalers.change(twsName, namespace, func(r *record) { increment(&r.misses, metric) })
}

// Forget drops every series of a scaler that is gone.
func Forget(key types.NamespacedName) {
	scalers.mu.Lock()
	defer scalers.mu.Unlock()
	delete(scalers.records, key)
}
