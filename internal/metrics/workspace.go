package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The values of the label result of an operation.
const (
	OperationCompleted = "completed"
	OperationFailed    = "failed"    // no attempt was left
	OperationCancelled = "cancelled" // another state or the deletion was requested
)

var (
	workspaceLabels = []string{"namespace", "workspace"}

	workspaceState = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_workspace_state",
		Help: "1 for the state of the workspace: PENDING, ARCHIVED, STANDBY, RUNNING, ERROR or DELETING.",
	}, append(workspaceLabels, "state"))

	workspaceArchiveBytes = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "kyklos_workspace_archive_bytes",
		Help: "Size of the workspace's archive in the object store.",
	}, workspaceLabels)

	workspaceAttempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kyklos_workspace_attempts_total",
		Help: "Attempts of operations on workspaces, by operation, such as STARTING or ARCHIVING.",
	}, []string{"operation"})

	workspaceFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kyklos_workspace_failures_total",
		Help: "Failures of attempts, by operation and reason: Mismatch, Unreachable, ActionFailed, Timeout or DataLost.",
	}, []string{"operation", "reason"})

	workspaceOperations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "kyklos_workspace_operation_duration_seconds",
		Help:    "Time from the beginning of an operation to its end, by operation and result: completed, failed or cancelled.",
		Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600},
	}, []string{"operation", "result"})

	workspaceMovers = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kyklos_workspace_movers_active",
		Help: "Operations that are moving homes, of all workspaces; see --mover-limit.",
	})
)

// lastWorkspaces are the current values.
var (
	workspacesMutex sync.Mutex
	lastWorkspaces  = map[types.NamespacedName]Workspace{}
)

func init() {
	metrics.Registry.MustRegister(workspaceState, workspaceArchiveBytes, workspaceAttempts, workspaceFailures, workspaceOperations, workspaceMovers)
}

// Workspace is the value of the gauges of one workspace.
type Workspace struct {
	// State is the state as shown to people.
	State string
	// ArchiveBytes is 0 without an archive.
	ArchiveBytes int64
	// Moving: an operation moves its home.
	Moving bool
}

// RecordWorkspace sets the gauges of one workspace. If the state changed, the series of the previous one is removed.
func RecordWorkspace(key types.NamespacedName, w Workspace) {
	workspacesMutex.Lock()
	defer workspacesMutex.Unlock()
	last, known := lastWorkspaces[key]
	lastWorkspaces[key] = w
	if known && last.State != w.State {
		workspaceState.DeletePartialMatch(labelsOf(key))
	}
	workspaceMovers.Add(boolean(w.Moving) - boolean(last.Moving))
	workspaceState.WithLabelValues(key.Namespace, key.Name, w.State).Set(1)
	workspaceArchiveBytes.WithLabelValues(key.Namespace, key.Name).Set(float64(w.ArchiveBytes))
}

// RecordWorkspaceAttempt counts one attempt of an operation.
func RecordWorkspaceAttempt(operation string) { workspaceAttempts.WithLabelValues(operation).Inc() }

// RecordWorkspaceFailure counts one failed attempt.
func RecordWorkspaceFailure(operation, reason string) {
	workspaceFailures.WithLabelValues(operation, reason).Inc()
}

// RecordWorkspaceOperation observes how long an operation took with all its attempts, in seconds; result is one of the
// constants above. If the clock was set back meanwhile, it counts as 0: a decreasing sum would appear as a restart.
func RecordWorkspaceOperation(operation, result string, seconds float64) {
	workspaceOperations.WithLabelValues(operation, result).Observe(max(seconds, 0))
}

// ForgetWorkspace removes all series of a workspace that is gone.
func ForgetWorkspace(key types.NamespacedName) {
	workspacesMutex.Lock()
	defer workspacesMutex.Unlock()
	workspaceMovers.Sub(boolean(lastWorkspaces[key].Moving))
	delete(lastWorkspaces, key)
	workspaceState.DeletePartialMatch(labelsOf(key))
	workspaceArchiveBytes.DeletePartialMatch(labelsOf(key))
}

func labelsOf(key types.NamespacedName) prometheus.Labels {
	return prometheus.Labels{"namespace": key.Namespace, "workspace": key.Name}
}
