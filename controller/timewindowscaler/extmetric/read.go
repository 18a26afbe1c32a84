package extmetric

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"kyklos.io/kyklos/internal/schedule"
)

// +kubebuilder:rbac:groups=external.metrics.k8s.io,resources=*,verbs=list

// Options are the flags about windows' metrics.
type Options struct {
	// Interval is the time between two polls of a metric.
	Interval time.Duration
	// Tolerance is the part of its target by which a metric may miss it before the count changes.
	Tolerance float64
}

// DefaultOptions are what kube-controller-manager does for a HorizontalPodAutoscaler.
var DefaultOptions = Options{Interval: 15 * time.Second, Tolerance: DefaultTolerance}

// Validate names the flag in its error.
func (o Options) Validate() error {
	if o.Interval < time.Second || o.Interval > time.Hour {
		return fmt.Errorf("--metric-interval: must be from 1s to 1h, not %s", o.Interval)
	}
	if !(o.Tolerance >= 0 && o.Tolerance < 1) { // NaN fails too
		return fmt.Errorf("--metric-tolerance: must be from 0 to below 1, not %g", o.Tolerance)
	}
	return nil
}

// errNoSeries is the HPA's case of "no metrics returned".
var errNoSeries = errors.New("the metrics API returned no values: no series has this name and selector")

// NewReader returns a function that adds up a metric's values. The client of k8s.io/metrics has neither
// context nor timeout, hence the plain request. It has no rate limit, because polls must not use up that of
// the writes, and never retries.
func NewReader(config *rest.Config, client *http.Client) (func(context.Context, Source) (int64, error), error) {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register external.metrics.k8s.io: %w", err)
	}
	config = rest.CopyConfig(config)
	config.QPS, config.RateLimiter = -1, nil
	config.APIPath, config.GroupVersion = "/apis", &v1beta1.SchemeGroupVersion
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	api, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("create a client for external.metrics.k8s.io: %w", err)
	}
	return func(ctx context.Context, source Source) (int64, error) {
		request := api.Get().Namespace(source.Namespace).Resource(source.Name).MaxRetries(0)
		if source.Selector != "" {
			request.Param("labelSelector", source.Selector)
		}
		var list v1beta1.ExternalMetricValueList
		if err := request.Do(ctx).Into(&list); err != nil {
			return 0, err
		}
		if len(list.Items) == 0 {
			return 0, errNoSeries
		}
		values := make([]int64, len(list.Items))
		for i := range list.Items {
			values[i] = schedule.Milli(list.Items[i].Value)
		}
		return Sum(values), nil
	}, nil
}

// isUnanswered reports that the API server could not be reached at all. If it waits for a metrics API in
// vain, that ends in a timeout, which counts as an answer.
func isUnanswered(err error) bool {
	var transport *url.Error
	return errors.As(err, &transport) && !transport.Timeout() && !errors.Is(err, context.DeadlineExceeded)
}

// describeMiss describes a failed poll for the user.
func describeMiss(err error) string {
	const most = 300 // of a text that someone else writes
	text := err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		text = fmt.Sprintf("external.metrics.k8s.io did not answer within %s", pollTimeout)
	case apierrors.IsNotFound(err):
		text = "the API server serves no such metric in external.metrics.k8s.io: " + text
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

func isTimeout(err error) bool {
	var transport *url.Error
	return errors.As(err, &transport) && transport.Timeout()
}
