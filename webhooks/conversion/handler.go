package conversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	conversionmetrics "sigs.k8s.io/controller-runtime/pkg/webhook/conversion/metrics"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
)

// webhookPath is the path in config/crd.
const webhookPath = "/convert"

// maxBody limits a request. The API server converts objects one by one, each at most 3 MiB.
const maxBody = 8 << 20

var logger = ctrl.Log.WithName("conversion-webhook")

// SetupWithManager registers the webhook with the manager's webhook server. It needs neither leadership nor caches,
// so every replica converts as soon as its server runs.
func SetupWithManager(mgr ctrl.Manager) error {
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create a discovery client: %w", err)
	}
	mgr.GetWebhookServer().Register(webhookPath, handler{storedIn(mgr.GetAPIReader(), apis)})
	return nil
}

// handler answers ConversionReviews. An API server sends one object with each, and converts a list one by one, so that the
// time for each counts (BenchmarkReview).
type handler struct{ stored storedVersions }

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		logger.Error(err, "Could not read a conversion request")
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	req, err := parseRequest(body)
	if err != nil {
		logger.Error(err, "Refused a conversion request")
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer, err := h.answer(r.Context(), req)
	if err != nil {
		logger.Error(err, "Could not convert", "request", string(req.uid))
		answer = req.failed(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer) // an API server that is gone asks again
}

// answer converts all objects, or none.
func (h handler) answer(ctx context.Context, req request) (answer []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			conversionmetrics.WebhookPanics.WithLabelValues().Inc()
			for _, handle := range utilruntime.PanicHandlers {
				handle(ctx, r)
			}
			err = errors.New("internal error occurred during conversion")
		}
	}()
	converted := make([]document, len(req.objects))
	for i, raw := range req.objects {
		if converted[i], err = h.convert(ctx, raw, req.desired); err != nil {
			return nil, err
		}
	}
	return req.succeeded(converted), nil
}

// convert converts one object, and counts it by its result. The webhook server's metrics cannot: a failed conversion is an
// HTTP success (B12).
func (h handler) convert(ctx context.Context, raw json.RawMessage, desired string) (document, error) {
	d, err := documentOf(raw)
	if err != nil {
		return nil, err
	}
	down, err := d.isDownTo(desired)
	if err != nil {
		return nil, err
	}
	from, to, convert := v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version, h.toHub
	if down {
		from, to, convert = to, from, h.toSpoke
	}
	result := metrics.ConversionFailed // also if the conversion panics
	defer func() { metrics.RecordConversion(from, to, result) }()
	converted, cut, err := convert(ctx, d)
	switch {
	case err != nil:
		return nil, err
	case cut:
		result = metrics.ConversionCut
	default:
		result = metrics.ConversionDone
	}
	return converted, nil
}

// toSpoke marks an object without room for all of v1beta1, unless this may be the form in which it is stored: nothing would
// bring the rest back.
func (h handler) toSpoke(ctx context.Context, hub document) (spoke document, cut bool, err error) {
	spoke, fits := hub.toV1alpha1()
	if !fits {
		stored, err := h.stored.includeV1alpha1(ctx)
		if err != nil {
			return nil, false, err
		}
		if stored {
			return nil, false, errCannotStore
		}
	}
	return spoke, !fits, nil
}

// toHub refuses to lose what a marked object had no room for. While v1alpha1 may be stored, the marker is not Kyklos's, and
// an error would break every list of v1beta1.
func (h handler) toHub(ctx context.Context, spoke document) (hub document, cut bool, err error) {
	if spoke.isCut() {
		stored, err := h.stored.includeV1alpha1(ctx)
		if err != nil {
			return nil, false, err
		}
		if !stored {
			return nil, false, ErrCut
		}
	}
	return spoke.toV1beta1(), false, nil
}
