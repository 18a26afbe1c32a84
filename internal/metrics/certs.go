// Package metrics holds the metrics of Kyklos, registered with controller-runtime.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Vectors without a label: a plain gauge would say 0, expired in 1970, before
// the first certificate is known and wherever somebody else manages them.
var (
	// webhookCertificateStart makes a part of the certificate's life out of the time that is left: what is
	// left on time of one that lives for a week is late for one that lives for three months.
	webhookCertificateStart = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_webhook_certificate_start_timestamp_seconds",
		Help: "Unix time from which the certificate served by this replica's webhook server is valid.",
	}, nil)
	webhookCertificateExpiry = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_webhook_certificate_expiry_timestamp_seconds",
		Help: "Unix time at which the certificate served by this replica's webhook server expires.",
	}, nil)
	webhookCAExpiry = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_webhook_ca_expiry_timestamp_seconds",
		Help: "Unix time at which the CA that signs the webhook serving certificates expires.",
	}, nil)
	webhookCertificateFilesBad = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_webhook_certificate_files_bad",
		Help: "1 while the files in the folder of --webhook-cert-dir cannot be used; the log says why.",
	}, nil)
)

func init() {
	metrics.Registry.MustRegister(webhookCertificateStart, webhookCertificateExpiry, webhookCAExpiry, webhookCertificateFilesBad)
}

// RecordWebhookCertificate publishes from when and until when the leaf now served is valid.
func RecordWebhookCertificate(notBefore, notAfter time.Time) {
	webhookCertificateStart.WithLabelValues().Set(float64(notBefore.Unix()))
	webhookCertificateExpiry.WithLabelValues().Set(float64(notAfter.Unix()))
}

// RecordWebhookCAExpiry publishes the NotAfter of the CA that signs new leaves.
func RecordWebhookCAExpiry(notAfter time.Time) {
	webhookCAExpiry.WithLabelValues().Set(float64(notAfter.Unix()))
}

// RecordWebhookCertificateFiles publishes whether the mounted files can be used.
// It is never called where certificates are self-managed.
func RecordWebhookCertificateFiles(usable bool) {
	bad := 0.0
	if !usable {
		bad = 1
	}
	webhookCertificateFilesBad.WithLabelValues().Set(bad)
}
