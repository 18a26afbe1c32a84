package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// webhookCertificateStart makes a part of the certificate's life out of the time that is left: what is
// left on time of one that lives for a week is late for one that lives for three months.
var webhookCertificateStart = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "kyklos_webhook_certificate_start_timestamp_seconds",
	Help: "Unix time from which the certificate served by this replica's webhook server is valid.",
}, nil)

func init() {
	metrics.Registry.MustRegister(webhookCertificateStart)
}

// RecordWebhookCertificateStart publishes the NotBefore of the leaf now served.
func RecordWebhookCertificateStart(notBefore time.Time) {
	webhookCertificateStart.WithLabelValues().Set(float64(notBefore.Unix()))
}
