package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Vectors without labels: a plain gauge would be 0, expired in 1970, while there is no certificate.
var (
	// webhookCertificateStart allows alerts on the fraction of the validity period that is left.
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
		Help: "1 while the files in the folder of --webhook-cert-dir cannot be used; the log has the reason.",
	}, nil)
)

func init() {
	metrics.Registry.MustRegister(webhookCertificateStart, webhookCertificateExpiry, webhookCAExpiry, webhookCertificateFilesBad)
}

// RecordWebhookCertificate publishes the validity period of the served leaf.
func RecordWebhookCertificate(notBefore, notAfter time.Time) {
	webhookCertificateStart.WithLabelValues().Set(float64(notBefore.Unix()))
	webhookCertificateExpiry.WithLabelValues().Set(float64(notAfter.Unix()))
}

// RecordWebhookCAExpiry publishes the NotAfter of the CA that signs new leaves.
func RecordWebhookCAExpiry(notAfter time.Time) {
	webhookCAExpiry.WithLabelValues().Set(float64(notAfter.Unix()))
}

// RecordWebhookCertificateFiles publishes whether the mounted files can be used. It is not called with self-managed
// certificates.
func RecordWebhookCertificateFiles(usable bool) {
	webhookCertificateFilesBad.WithLabelValues().Set(boolean(!usable))
}
