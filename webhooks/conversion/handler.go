package conversion

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
)

// webhookPath is the path in config/crd.
const webhookPath = "/convert"

// maxBody limits a request. The API server converts objects one by one, each at most 3 MiB.
const maxBody = 8 << 20

// SetupWithManager registers the webhook with the manager's webhook server. It needs neither leadership nor caches,
// so every replica converts as soon as its server runs.
func SetupWithManager(mgr ctrl.Manager) error {
	handler, err := newHandler()
	if err != nil {
		return err
	}
	mgr.GetWebhookServer().Register(webhookPath, handler)
	return nil
}

func newHandler() (http.Handler, error) {
	scheme := newScheme()
	converter, err := conversion.NewHubSpokeConverter(&hubObject{}, conversion.SpokeConverter[*hubObject](v1alpha1Converter{}))(scheme)
	if err != nil {
		return nil, fmt.Errorf("set up the converter: %w", err)
	}
	registry := conversion.NewRegistry()
	if err := registry.RegisterConverter(v1beta1.GroupKind, counted{converter}); err != nil {
		return nil, fmt.Errorf("register the converter: %w", err)
	}
	reviews := conversion.NewWebhookHandler(scheme, registry)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		reviews.ServeHTTP(w, r)
	}), nil
}

// v1alpha1Converter converts between the hub and v1alpha1.
type v1alpha1Converter struct{}

// GetSpoke implements conversion.SpokeConverter.
func (v1alpha1Converter) GetSpoke() runtime.Object { return &spokeObject{} }

// ConvertHubToSpoke implements conversion.SpokeConverter.
func (v1alpha1Converter) ConvertHubToSpoke(_ context.Context, src *hubObject, dst runtime.Object) error {
	converted, fits := src.document.toV1alpha1()
	dst.(*spokeObject).document = converted
	dst.(*spokeObject).cut = !fits
	return nil
}

// ConvertSpokeToHub implements conversion.SpokeConverter.
func (v1alpha1Converter) ConvertSpokeToHub(_ context.Context, src runtime.Object, dst *hubObject) error {
	dst.document = src.(*spokeObject).document.toV1beta1()
	return nil
}

// counted counts conversions by result. The webhook server's metrics cannot: a failed conversion is an HTTP
// success (B12).
type counted struct{ conversion.Converter }

// ConvertObject implements conversion.Converter.
func (c counted) ConvertObject(ctx context.Context, src, dst runtime.Object) error {
	from, to := versionOf(src), versionOf(dst)
	result := metrics.ConversionFailed // also if the conversion panics
	defer func() { metrics.RecordConversion(from, to, result) }()
	if err := c.Converter.ConvertObject(ctx, src, dst); err != nil {
		return err
	}
	result = metrics.ConversionDone
	if s, ok := dst.(*spokeObject); ok && s.cut {
		result = metrics.ConversionCut
	}
	return nil
}

func versionOf(obj runtime.Object) string { return obj.GetObjectKind().GroupVersionKind().Version }
