package metrics

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// gauges returns the values of the certificate metrics as a scrape would see them.
func gauges(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			values[family.GetName()] = m.GetGauge().GetValue()
		}
	}
	return values
}

func TestCertificateExpiry(t *testing.T) {
	const leaf, ca = "kyklos_webhook_certificate_expiry_timestamp_seconds", "kyklos_webhook_ca_expiry_timestamp_seconds"
	const start = "kyklos_webhook_certificate_start_timestamp_seconds"
	for _, name := range []string{leaf, ca, start} {
		if value, ok := gauges(t)[name]; ok {
			t.Errorf("%s = %v before a certificate is known: an alert would fire", name, value)
		}
	}
	RecordWebhookCertificateExpiry(time.Unix(1_800_000_000, 0))
	RecordWebhookCAExpiry(time.Unix(1_900_000_000, 0))
	RecordWebhookCertificateExpiry(time.Unix(1_800_000_600, 0))
	RecordWebhookCertificateStart(time.Unix(1_700_000_000, 0))
	if got := gauges(t); got[start] != 1_700_000_000 || got[leaf] != 1_800_000_600 || got[ca] != 1_900_000_000 {
		t.Errorf("leaf %v to %v and CA %v, want 1700000000 to 1800000600 and 1900000000", got[start], got[leaf], got[ca])
	}
}
