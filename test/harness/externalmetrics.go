package harness

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// ExternalMetrics is a flag for Start that adds a real API service of external.metrics.k8s.io behind the
// aggregator. See Cluster.WriteExternalMetrics.
const ExternalMetrics = "--external-metrics"

// WriteExternalMetrics replaces the namespace's external metrics. Each value is a list in YAML or JSON of
// {labels: {queue: orders}, value: "350"}, or "error: some text", for which the service returns 500 with that text.
func (c *Cluster) WriteExternalMetrics(ctx context.Context, namespace string, metrics map[string]string) error {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return err
	}
	maps := clients.CoreV1().ConfigMaps(namespace)
	source := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "external-metrics"}, Data: metrics}
	_, err = maps.Update(ctx, source, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = maps.Create(ctx, source, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write the external metrics of %s: %w", namespace, err)
	}
	return nil
}
