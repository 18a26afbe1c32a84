package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/internal/metrics"
)

// The six series are zero before the first verdict, and a verdict increments only its own.
func TestRecordAdmission(t *testing.T) {
	const help = `
# HELP kyklos_admission_total Objects that the validating webhook judged, by operation and result: allowed, warned (accepted with warnings) or denied.
# TYPE kyklos_admission_total counter
`
	before := `kyklos_admission_total{operation="create",result="allowed"} 0
kyklos_admission_total{operation="create",result="denied"} 0
kyklos_admission_total{operation="create",result="warned"} 0
kyklos_admission_total{operation="update",result="allowed"} 0
kyklos_admission_total{operation="update",result="denied"} 0
kyklos_admission_total{operation="update",result="warned"} 0
`
	compare := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(ctrlmetrics.Registry, strings.NewReader(help+want), "kyklos_admission_total"); err != nil {
			t.Error(err)
		}
	}
	compare(before)
	metrics.RecordAdmission(metrics.AdmissionUpdate, metrics.AdmissionDenied)
	metrics.RecordAdmission(metrics.AdmissionUpdate, metrics.AdmissionDenied)
	compare(strings.Replace(before, `"update",result="denied"} 0`, `"update",result="denied"} 2`, 1))
}
