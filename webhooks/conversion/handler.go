package conversion

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
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
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create a discovery client: %w", err)
	}
	handler, err := newHandler(storedIn(mgr.GetAPIReader(), apis))
	if err != nil {
		return err
	}
	mgr.GetWebhookServer().Register(webhookPath, handler)
	return nil
}

func newHandler(stored storedVersions) (http.Handler, error) {
	scheme := newScheme()
	converter, err := conversion.NewHubSpokeConverter(&hubObject{}, conversion.SpokeConverter[*hubObject](v1alpha1Converter{stored}))(scheme)
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
type v1alpha1Converter struct{ stored storedVersions }

// GetSpoke implements conversion.SpokeConverter.
func (v1alpha1Converter) GetSpoke() runtime.Object { return &spokeObject{} }

// ConvertHubToSpoke implements conversion.SpokeConverter. An object without room for all of v1beta1 is marked, unless this
// may be the form in which it is stored: nothing would bring the rest back.
func (c v1alpha1Converter) ConvertHubToSpoke(ctx context.Context, src *hubObject, dst runtime.Object) error {
	converted, fits := src.document.toV1alpha1()
	if !fits {
		stored, err := c.stored.includeV1alpha1(ctx)
		if err != nil {
			return err
		}
		if stored {
			return errCannotStore
		}
	}
	dst.(*spokeObject).document = converted
	dst.(*spokeObject).cut = !fits
	return nil
}

// ConvertSpokeToHub implements conversion.SpokeConverter. It refuses to lose what a marked object had no room for. While
// v1alpha1 may be stored, the marker is not Kyklos's, and an error would break every list of v1beta1.
func (c v1alpha1Converter) ConvertSpokeToHub(ctx context.Context, src runtime.Object, dst *hubObject) error {
	spoke := src.(*spokeObject).document
	if spoke.isCut() {
		stored, err := c.stored.includeV1alpha1(ctx)
		if err != nil {
			return err
		}
		if !stored {
			return ErrCut
		}
	}
	dst.document = spoke.toV1beta1()
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
