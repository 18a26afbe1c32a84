package archivegc

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/events"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces,verbs=list
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups="",namespace=kyklos-system,resources=configmaps,verbs=create
// +kubebuilder:rbac:groups="",namespace=kyklos-system,resources=configmaps,resourceNames=kyklos-archive-gc,verbs=get;update
// +kubebuilder:rbac:groups="",namespace=kyklos-system,resources=namespaces,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,namespace=kyklos-system,resources=events,verbs=create

// Bounds and default of the interval.
const (
	DefaultInterval = 2 * time.Hour
	MinInterval     = time.Minute
	MaxInterval     = 24 * time.Hour
)

// FieldManager owns the ConfigMap's fields, and is the controller named in events.
const FieldManager = "kyklos-archive-gc"

// Options are what the manager's flags decide.
type Options struct {
	// Clock is the wall clock. Monotonic is a time that clock steps do not affect; without it no step is detected.
	Clock     clock.PassiveClock
	Monotonic func() time.Duration
	// Interval is the time from one cycle to the next, from MinInterval to MaxInterval.
	Interval time.Duration
	// Namespace is the manager's namespace.
	Namespace string
	// Namespaces are the served namespaces; none means all.
	Namespaces []string
	// Stores are the kinds of stores that are allowed.
	Stores connect.Options
}

// Validate names the flag whose value is invalid.
func (o Options) Validate() error {
	if o.Interval < MinInterval || o.Interval > MaxInterval {
		return fmt.Errorf("--archive-gc-interval: must be from %s to %s, not %s", MinInterval, MaxInterval, o.Interval)
	}
	return nil
}

// SetupWithManager adds the collector to mgr.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	if err := options.Validate(); err != nil {
		return err
	}
	return mgr.Add(&Collector{
		Options: options,
		Live:    mgr.GetAPIReader(),
		Writer:  mgr.GetClient(),
		Open:    connect.Open,
		Events:  events.NewRecorder(mgr.GetEventRecorder(FieldManager)),
		Log:     mgr.GetLogger().WithName("archivegc"),
	})
}
