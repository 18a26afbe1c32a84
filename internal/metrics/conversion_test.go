package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/internal/metrics"
)

// Each direction and result is zero before the first conversion; to v1beta1 nothing is cut.
func TestRecordConversion(t *testing.T) {
	const help = `
# HELP kyklos_conversions_total Objects that the conversion webhook converted, by versions and result: converted, cut (v1alpha1 had no room for all of v1beta1) or failed.
# TYPE kyklos_conversions_total counter
`
	before := `kyklos_conversions_total{from="v1alpha1",result="converted",to="v1beta1"} 0
kyklos_conversions_total{from="v1alpha1",result="failed",to="v1beta1"} 0
kyklos_conversions_total{from="v1beta1",result="converted",to="v1alpha1"} 0
kyklos_conversions_total{from="v1beta1",result="cut",to="v1alpha1"} 0
kyklos_conversions_total{from="v1beta1",result="failed",to="v1alpha1"} 0
`
	compare := func(want string) {
		t.Helper()
		if err := testutil.GatherAndCompare(ctrlmetrics.Registry, strings.NewReader(help+want), "kyklos_conversions_total"); err != nil {
			t.Error(err)
		}
	}
	compare(before)
	metrics.RecordConversion("v1beta1", "v1alpha1", metrics.ConversionCut)
	metrics.RecordConversion("v1beta1", "v1alpha1", metrics.ConversionCut)
	compare(strings.Replace(before, `result="cut",to="v1alpha1"} 0`, `result="cut",to="v1alpha1"} 2`, 1))
}
