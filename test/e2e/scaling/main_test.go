// Package scaling runs the controller against a real API server with real controllers, as the shipped
// ServiceAccount, and moves its clock: this is where R8 to R13 are tested.
package scaling

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"kyklos.io/kyklos/controller/timewindowscaler"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/test/harness"
)

var (
	cluster *harness.Cluster
	// admin is the tests' own client.
	admin client.Client
	// wall is the controller's clock.
	wall movableClock
	// clockPolls counts how often the controller compared its clock with the elapsed time.
	clockPolls atomic.Int64
)

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	if cluster, err = s.Start(ctx, harness.ExternalMetrics, harness.AuditLog); err != nil {
		return err
	}
	// Nothing serves webhooks here; they fail open, and test/e2e/install tests them.
	if _, err := cluster.InstallOnFreePort(ctx); err != nil {
		return err
	}
	if admin, err = cluster.Client(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	stopped, err := startController(ctx)
	if err != nil {
		cancel()
		return err
	}
	s.AtEnd(func() error {
		cancel()
		return errors.Join(<-stopped, cluster.NothingForbidden())
	})
	return nil
}

// startController runs the controller in this process, so that its clock can be moved.
func startController(ctx context.Context) (stopped <-chan error, err error) {
	logger := logr.Discard()
	if os.Getenv("E2E_LOG") != "" {
		logger = logr.FromSlogHandler(newTestLog())
	}
	ctrl.SetLogger(logger)
	config, err := cluster.ManagerConfig(ctx)
	if err != nil {
		return nil, err
	}
	config.Wrap(sent.wrap)
	config.Wrap(scalerWatch.wrap)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: admin.Scheme(),
		Logger: logger,
		Cache:  timewindowscaler.CacheOptions(nil), NewCache: timewindowscaler.NewCache,
		Client:  client.Options{FieldOwner: target.FieldManager},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, err
	}
	kinds, err := targetkind.NewResolverFor(mgr.GetConfig(), mgr.GetHTTPClient(), &wall)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	err = timewindowscaler.SetupWithManager(ctx, mgr, timewindowscaler.Options{
		Clock: &wall,
		Monotonic: func() time.Duration {
			clockPolls.Add(1)
			return time.Since(start)
		},
		Requeue: timewindowscaler.Requeue{Max: 24 * time.Hour},
		Metrics: extmetric.Options{Interval: time.Second, Tolerance: 0.1},
		Kinds:   kinds,
	})
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	return done, nil
}

// movableClock is a wall clock that tests set. It runs, unless it was stopped.
type movableClock struct {
	offset  atomic.Int64
	stopped atomic.Pointer[time.Time]
}

func (c *movableClock) Now() time.Time {
	if at := c.stopped.Load(); at != nil {
		return *at
	}
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()))
}

func (c *movableClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// set moves the clock to t. The controller notices, as it would notice a step of the real clock.
func (c *movableClock) set(t time.Time) {
	c.offset.Store(int64(time.Until(t)))
	c.stopped.Store(nil)
}

// stop sets the clock to t, where it stays until it is set again. To the controller it steps back every second.
func (c *movableClock) stop(t time.Time) { c.stopped.Store(&t) }
