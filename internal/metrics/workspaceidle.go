package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// workspacesIdle counts decisions of the idle timers, all Workspaces together.
var workspacesIdle = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "kyklos_workspace_idle_total",
	Help: "Idle Workspaces whose desired state was lowered, by the new desired state: STANDBY or PENDING.",
}, []string{"desired"})

func init() {
	metrics.Registry.MustRegister(workspacesIdle)
	for _, desired := range []string{"STANDBY", "PENDING"} {
		workspacesIdle.WithLabelValues(desired) // from the start; see admissionTotal
	}
}

// RecordWorkspaceIdle counts one Workspace whose desired state was lowered to STANDBY or PENDING.
func RecordWorkspaceIdle(desired string) { workspacesIdle.WithLabelValues(desired).Inc() }
