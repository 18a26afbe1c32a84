package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The verdicts of admission; the values of the label result.
const (
	AdmissionAllowed = "allowed" // accepted, nothing to say
	AdmissionWarned  = "warned"  // accepted, with at least one warning
	AdmissionDenied  = "denied"  // refused
)

// The operations that are validated; the values of the label operation.
const (
	AdmissionCreate = "create"
	AdmissionUpdate = "update"
)

// admissionTotal counts verdicts. The webhook server's own metrics cannot: to HTTP, a refusal is a
// success (B12).
var admissionTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "kyklos_admission_total",
	Help: "Objects that the validating webhook judged, by operation and result: allowed, warned (accepted with warnings) or denied.",
}, []string{"operation", "result"})

var admissionDisabled = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "kyklos_admission_disabled",
	Help: "1 while a webhook configuration is missing or has no webhooks, so that the API server checks nothing with them, else 0.",
}, []string{"kind", "configuration"})

func init() {
	metrics.Registry.MustRegister(admissionTotal, admissionDisabled)
	// All series exist from the start: a rate over a series that is born with its first refusal
	// would miss that refusal.
	for _, operation := range []string{AdmissionCreate, AdmissionUpdate} {
		for _, result := range []string{AdmissionAllowed, AdmissionWarned, AdmissionDenied} {
			admissionTotal.WithLabelValues(operation, result)
		}
	}
}

// RecordAdmission counts one verdict: operation is AdmissionCreate or AdmissionUpdate, result one of
// AdmissionAllowed, AdmissionWarned and AdmissionDenied.
func RecordAdmission(operation, result string) {
	admissionTotal.WithLabelValues(operation, result).Inc()
}

// RecordAdmissionDisabled publishes whether the API server calls no webhook of a configuration, for example of the
// ValidatingWebhookConfiguration kyklos-webhook.
func RecordAdmissionDisabled(kind, name string, disabled bool) {
	admissionDisabled.WithLabelValues(kind, name).Set(boolean(disabled))
}
