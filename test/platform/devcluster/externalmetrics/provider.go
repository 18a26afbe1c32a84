// Package externalmetrics is an API service of external.metrics.k8s.io, as a monitoring system's adapter is
// one: served by custom-metrics-apiserver behind the aggregator, with delegated authentication and
// authorization. Only where the values come from is made for tests: from ConfigMaps.
package externalmetrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	metrics "k8s.io/metrics/pkg/apis/external_metrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
	"sigs.k8s.io/yaml"
)

const (
	// SourceName is the ConfigMap that holds its namespace's metrics. Each key is a metric's name, each value
	// a list in YAML or JSON of {labels: {queue: orders}, value: "350"}.
	SourceName = "external-metrics"
	// failure begins a value that is not a list: the service answers 500 with the text after it.
	failure = "error:"
)

// sample is one value of a metric.
type sample struct {
	Labels map[string]string  `json:"labels"`
	Value  *resource.Quantity `json:"value"`
}

// source answers from the ConfigMaps. It reads them again for every request: an informer would lag, and a
// test could not distinguish a late value from a wrong one.
type source struct {
	maps corev1client.ConfigMapsGetter
}

var _ provider.ExternalMetricsProvider = source{}

// GetExternalMetric returns the values whose labels match. An unknown metric has none, which
// is not an error here; the HPA makes it one.
func (s source) GetExternalMetric(ctx context.Context, namespace string, selector labels.Selector, info provider.ExternalMetricInfo) (*metrics.ExternalMetricValueList, error) {
	held, err := s.maps.ConfigMaps(namespace).Get(ctx, SourceName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		held, err = &corev1.ConfigMap{}, nil
	}
	if err != nil {
		return nil, err
	}
	items, err := values(info.Metric, held.Data[info.Metric], selector, time.Now())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return &metrics.ExternalMetricValueList{Items: items}, nil
}

// ListAllExternalMetrics names the metrics of every namespace, once each, for discovery.
func (s source) ListAllExternalMetrics() []provider.ExternalMetricInfo {
	all, err := s.maps.ConfigMaps(metav1.NamespaceAll).List(context.Background(), metav1.ListOptions{
		FieldSelector: "metadata.name=" + SourceName,
	})
	if err != nil {
		klog.ErrorS(err, "Listing the external metrics failed")
		return nil
	}
	seen, infos := map[string]bool{}, []provider.ExternalMetricInfo{}
	for _, held := range all.Items {
		for name := range held.Data {
			if !seen[name] {
				seen[name] = true
				infos = append(infos, provider.ExternalMetricInfo{Metric: name})
			}
		}
	}
	return infos
}

// values reads one metric from a ConfigMap and keeps what the selector matches.
func values(name, text string, selector labels.Selector, now time.Time) ([]metrics.ExternalMetricValue, error) {
	if reason, ok := strings.CutPrefix(text, failure); ok {
		return nil, errors.New(strings.TrimSpace(reason))
	}
	var samples []sample
	if err := yaml.UnmarshalStrict([]byte(text), &samples); err != nil {
		return nil, fmt.Errorf("ConfigMap %s, key %s: write a list of {labels: {..}, value: \"350\"}, or %s and a text: %w",
			SourceName, name, failure, err)
	}
	kept := []metrics.ExternalMetricValue{}
	for i, s := range samples {
		if s.Value == nil {
			return nil, fmt.Errorf("ConfigMap %s, key %s: entry %d has no value; write a quantity such as \"350\" or \"0.5\"", SourceName, name, i)
		}
		if selector.Matches(labels.Set(s.Labels)) {
			kept = append(kept, metrics.ExternalMetricValue{
				MetricName: name, MetricLabels: s.Labels, Timestamp: metav1.NewTime(now), Value: *s.Value,
			})
		}
	}
	return kept, nil
}
