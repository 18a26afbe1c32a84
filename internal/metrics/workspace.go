package metrics

import (
	"maps"
	"strconv"
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
	workspaceState = prometheus.NewDesc("kyklos_workspace_state",
		"1 for the state of the workspace: PENDING, ARCHIVED, STANDBY, RUNNING, ERROR or DELETING.", []string{"namespace", "workspace", "state"}, nil)

	workspaceArchiveBytes = prometheus.NewDesc("kyklos_workspace_archive_bytes",
		"Size of the workspace's archive in the object store.", []string{"namespace", "workspace"}, nil)

	workspaceMovers = prometheus.NewDesc("kyklos_workspace_movers_active",
		"Operations that are moving homes, of all workspaces; see --mover-limit.", nil, nil)

	scrapedWorkspaces = describeSize("Workspace")

	workspaceAttempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kyklos_workspace_attempts_total",
		Help: "Attempts of operations on workspaces, by operation, such as STARTING or ARCHIVING.",
	}, []string{"operation"})

	workspaceFailures = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kyklos_workspace_failures_total",
		Help: "Failures of attempts, by operation and reason: Mismatch, Unreachable, ActionFailed, Timeout or DataLost; first is true for the first of its reason in an operation.",
	}, []string{"operation", "reason", "first"})

	workspaceOperations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "kyklos_workspace_operation_duration_seconds",
		Help:    "Time from the beginning of an operation to its end, by operation and result: completed, failed or cancelled.",
		Buckets: []float64{0.5, 1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600},
	}, []string{"operation", "result"})
)

func init() {
	metrics.Registry.MustRegister(workspaces, workspaceAttempts, workspaceFailures, workspaceOperations)
}

// workspaces has the current state of all workspaces, of which their series are made at each scrape.
var workspaces = &workspaceCollector{states: map[types.NamespacedName]Workspace{}}

type workspaceCollector struct {
	mu     sync.Mutex
	states map[types.NamespacedName]Workspace
}

// Describe implements prometheus.Collector.
func (c *workspaceCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{workspaceState, workspaceArchiveBytes, workspaceMovers, scrapedWorkspaces} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *workspaceCollector) Collect(to chan<- prometheus.Metric) {
	c.mu.Lock()
	states := maps.Clone(c.states)
	c.mu.Unlock()
	var s scrape
	movers := 0.0
	for key, w := range states {
		s.of(label("namespace", key.Namespace), label("workspace", key.Name))
		s.add(workspaceState, prometheus.GaugeValue, 1, label("state", w.State))
		s.add(workspaceArchiveBytes, prometheus.GaugeValue, float64(w.ArchiveBytes))
		movers += boolean(w.Moving)
	}
	to <- prometheus.MustNewConstMetric(workspaceMovers, prometheus.GaugeValue, movers)
	s.send(to, scrapedWorkspaces)
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

// RecordWorkspace sets the gauges of one workspace.
func RecordWorkspace(key types.NamespacedName, w Workspace) {
	workspaces.mu.Lock()
	defer workspaces.mu.Unlock()
	workspaces.states[key] = w
}

// RecordWorkspaceAttempt counts one attempt of an operation.
func RecordWorkspaceAttempt(operation string) { workspaceAttempts.WithLabelValues(operation).Inc() }

// RecordWorkspaceFailure counts one failed attempt. first: no earlier one of the operation failed for this reason.
func RecordWorkspaceFailure(operation, reason string, first bool) {
	workspaceFailures.WithLabelValues(operation, reason, strconv.FormatBool(first)).Inc()
}

// RecordWorkspaceOperation observes how long an operation took with all its attempts, in seconds; result is one of the
// constants above. If the clock was set back meanwhile, it counts as 0: a decreasing sum would appear as a restart.
func RecordWorkspaceOperation(operation, result string, seconds float64) {
	workspaceOperations.WithLabelValues(operation, result).Observe(max(seconds, 0))
}

// ForgetWorkspace removes all series of a workspace that is gone.
func ForgetWorkspace(key types.NamespacedName) {
	workspaces.mu.Lock()
	defer workspaces.mu.Unlock()
	delete(workspaces.states, key)
}
