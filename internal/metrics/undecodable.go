package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var undecodable = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "kyklos_undecodable_object",
	Help: "1 for an object of which Kyklos cannot decode the spec or the status; its condition or its events say why.",
}, []string{"kind", "namespace", "name"})

func init() { metrics.Registry.MustRegister(undecodable) }

// RecordUndecodable publishes whether an object could not be decoded. One that could, or is gone, has no series.
func RecordUndecodable(kind string, key types.NamespacedName, bad bool) {
	labels := prometheus.Labels{"kind": kind, "namespace": key.Namespace, "name": key.Name}
	if bad {
		undecodable.With(labels).Set(1)
		return
	}
	undecodable.Delete(labels)
}
