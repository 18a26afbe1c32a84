package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The results of a conversion; the values of the label result.
const (
	// ConversionDone is a conversion that lost nothing.
	ConversionDone = "converted"
	// ConversionCut is one to v1alpha1 without what only v1beta1 can say, for want of room.
	ConversionCut = "cut"
	// ConversionFailed is one without an answer.
	ConversionFailed = "failed"
)

// conversionsTotal counts conversions. The webhook server's own metrics cannot: to HTTP, a failure is
// a success (B12).
var conversionsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "kyklos_conversions_total",
	Help: "Objects that the conversion webhook converted, by versions and result: converted, cut (v1alpha1 had no room for all of v1beta1) or failed.",
}, []string{"from", "to", "result"})

var conversionDisabled = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "kyklos_conversion_disabled",
	Help: "1 while the CustomResourceDefinition serves several versions and its spec.conversion.strategy is None, else 0.",
}, definition)

func init() {
	metrics.Registry.MustRegister(conversionsTotal, conversionDisabled)
	// All series that matter exist from the start; see admissionTotal.
	for _, result := range []string{ConversionDone, ConversionCut, ConversionFailed} {
		conversionsTotal.WithLabelValues("v1beta1", "v1alpha1", result)
	}
	conversionsTotal.WithLabelValues("v1alpha1", "v1beta1", ConversionDone)
	conversionsTotal.WithLabelValues("v1alpha1", "v1beta1", ConversionFailed)
}

// RecordConversion counts one object: from and to are API versions, such as v1alpha1; result is
// ConversionDone, ConversionCut or ConversionFailed.
func RecordConversion(from, to, result string) {
	conversionsTotal.WithLabelValues(from, to, result).Inc()
}

// RecordConversionDisabled publishes whether the API server does not convert the objects of the CustomResourceDefinition crd.
func RecordConversionDisabled(crd string, disabled bool) {
	conversionDisabled.WithLabelValues(crd).Set(boolean(disabled))
}
