package archivegc

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// poll is how often the clock is looked at; it may be set.
const poll = time.Minute

// FieldManager names this writer of its ConfigMap, and the controller in events.
const FieldManager = "kyklos-archive-gc"

// Options are what the manager's flags decide.
type Options struct {
	// Clock is the wall clock; Monotonic is the time since some start, which steps of the wall clock do not
	// touch. Without it no step is noticed.
	Clock     clock.PassiveClock
	Monotonic func() time.Duration
	// Interval is the time from one cycle to the next, from MinInterval to MaxInterval.
	Interval time.Duration
	// Namespace is the manager's own.
	Namespace string
	// Namespaces are those whose Workspaces are served; none means all.
	Namespaces []string
	// Stores says which stores are allowed.
	Stores connect.Options
}

// Validate says what is wrong with the options, in the words of the flags that set them.
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

// NeedLeaderElection makes it run on the leader alone.
func (c *Collector) NeedLeaderElection() bool { return true }

// Start goes through the stores, again and again, until ctx ends. A leader that takes over goes on where the
// last one was.
func (c *Collector) Start(ctx context.Context) error {
	ticks := time.NewTicker(poll)
	defer ticks.Stop()
	last := c.lastCycle(ctx)
	c.stepped() // the clocks are compared from here on
	for {
		now := c.Clock.Now()
		if last.After(now) {
			last = now // the clock was set back
		}
		if !now.Before(last.Add(c.Interval)) {
			last = now
			c.Cycle(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// lastCycle is when a store was last gone through; the zero time if nobody knows.
func (c *Collector) lastCycle(ctx context.Context) (last time.Time) {
	book, err := c.load(ctx)
	if err != nil {
		return time.Time{} // the cycle will say it
	}
	for _, known := range book.stores {
		if known.LookedAt.After(last) {
			last = known.LookedAt
		}
	}
	return last
}

// own returns the id of this installation: the UID of the manager's namespace. Another cluster has
// another one, and so has a second manager in this one.
func (c *Collector) own(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{}
	if err := c.Live.Get(ctx, client.ObjectKey{Name: c.Namespace}, namespace); err != nil {
		return "", fmt.Errorf("look for the own namespace: %w", err)
	}
	return string(namespace.UID), nil
}
