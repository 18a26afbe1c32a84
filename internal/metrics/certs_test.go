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
	RecordWebhookCertificate(time.Unix(1_600_000_000, 0), time.Unix(1_800_000_000, 0))
	RecordWebhookCAExpiry(time.Unix(1_900_000_000, 0))
	RecordWebhookCertificate(time.Unix(1_700_000_000, 0), time.Unix(1_800_000_600, 0))
	if got := gauges(t); got[start] != 1_700_000_000 || got[leaf] != 1_800_000_600 || got[ca] != 1_900_000_000 {
		t.Errorf("leaf %v to %v and CA %v, want 1700000000 to 1800000600 and 1900000000", got[start], got[leaf], got[ca])
	}
}

// Where certificates are self-managed there are no files, and no series.
func TestCertificateFiles(t *testing.T) {
	const bad = "kyklos_webhook_certificate_files_bad"
	if value, ok := gauges(t)[bad]; ok {
		t.Errorf("%s = %v before files are read", bad, value)
	}
	for usable, want := range map[bool]float64{false: 1, true: 0} {
		RecordWebhookCertificateFiles(usable)
		if got := gauges(t)[bad]; got != want {
			t.Errorf("usable %t: %v, want %v", usable, got, want)
		}
	}
}
