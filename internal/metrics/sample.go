package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// sample is one series of one object in one scrape. There are tens of thousands of them, so it shares the labels that name
// the object with the object's other series.
type sample struct {
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	value  float64
	labels []*dto.LabelPair
}

// Desc implements prometheus.Metric.
func (s *sample) Desc() *prometheus.Desc { return s.desc }

// Write implements prometheus.Metric.
func (s *sample) Write(to *dto.Metric) error {
	to.Label = s.labels
	if s.kind == prometheus.CounterValue {
		to.Counter = &dto.Counter{Value: &s.value}
	} else {
		to.Gauge = &dto.Gauge{Value: &s.value}
	}
	return nil
}

// scrape collects the series of objects of one kind.
type scrape struct {
	samples []prometheus.Metric
	// object has the labels of the current object.
	object []*dto.LabelPair
}

// of begins the next object.
func (s *scrape) of(labels ...*dto.LabelPair) { s.object = labels }

// add adds a series of the current object; more has the labels that it has besides.
func (s *scrape) add(desc *prometheus.Desc, kind prometheus.ValueType, value float64, more ...*dto.LabelPair) {
	labels := s.object
	if len(more) > 0 {
		labels = append(s.object[:len(s.object):len(s.object)], more...)
	}
	s.samples = append(s.samples, &sample{desc, kind, value, labels})
}

// send sends all series, and how many they are.
func (s *scrape) send(to chan<- prometheus.Metric, size *prometheus.Desc) {
	for _, sample := range s.samples {
		to <- sample
	}
	to <- prometheus.MustNewConstMetric(size, prometheus.GaugeValue, float64(len(s.samples)))
}

// describeSize describes the number of series of all objects of a kind.
func describeSize(kind string) *prometheus.Desc {
	return prometheus.NewDesc("kyklos_scrape_series",
		"Series in this scrape that are about single objects of the kind: TimeWindowScaler or Workspace.", nil, prometheus.Labels{"kind": kind})
}

func label(name, value string) *dto.LabelPair { return &dto.LabelPair{Name: &name, Value: &value} }
