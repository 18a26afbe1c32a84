// Command scrapes runs a manager on a real API server through the states that produce its metrics, and stores the scrapes of
// both in a folder. test/platform/monitoring reads them, so that this module does not need Prometheus's packages.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"kyklos.io/kyklos/test/harness"
)

// patience is how long the whole run may take.
const patience = 5 * time.Minute

// objects are the namespace shop and a schedule or Workspace for each state.
//
//go:embed objects.yaml
var objects string

// queue is a value of the external metric that the schedule mail follows.
const queue = `[{labels: {queue: mail}, value: "90"}]`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: scrapes FOLDER")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := record(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "scrapes:", err)
		os.Exit(1)
	}
}

// run is a manager and what it needs.
type run struct {
	cluster *harness.Cluster
	manager *harness.Manager
	api     kubernetes.Interface
	// folder gets the scrapes. clockFile sets the manager's clock.
	folder    string
	clockFile harness.Clock
	// binary is the manager's path, and port that of its webhooks.
	binary string
	port   int
}

func record(ctx context.Context, folder string) (err error) {
	scratch, err := os.MkdirTemp("", "kyklos-scrapes")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	binary := filepath.Join(scratch, "kyklos")
	if err := harness.BuildMovable(ctx, binary); err != nil {
		return err
	}
	r := &run{folder: folder, clockFile: harness.Clock(filepath.Join(scratch, "clock")), binary: binary}
	if r.cluster, err = harness.Start(ctx, filepath.Join(scratch, "cluster"), harness.ExternalMetrics, harness.HostProcesses); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.cluster.Stop()) }()
	if r.api, err = kubernetes.NewForConfig(r.cluster.Config); err != nil {
		return err
	}
	if r.port, err = harness.FreePort(); err != nil {
		return err
	}
	if err := r.withoutManager(ctx); err != nil {
		return err
	}
	if err := r.set(stages[0].at); err != nil {
		return err
	}
	if err := r.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.manager.Stop()) }()
	if err := r.manager.AwaitReady(ctx); err != nil {
		return err
	}
	for _, stage := range stages {
		if err := r.enter(ctx, stage); err != nil {
			return fmt.Errorf("at %s: %w", stage.at, err)
		}
	}
	return nil
}

// withoutManager makes webhook calls of the API server fail.
func (r *run) withoutManager(ctx context.Context) error {
	if err := r.cluster.Install(ctx, r.port); err != nil {
		return err
	}
	if _, _, err := r.cluster.Kubectl(ctx, objects, "apply", "-f", "-"); err != nil {
		return err
	}
	if _, _, err := r.cluster.Kubectl(ctx, "", "get", "timewindowscalers.v1alpha1.kyklos.io", "-A"); err == nil {
		return errors.New("schedules in v1alpha1 were read without a manager")
	}
	return r.cluster.WriteExternalMetrics(ctx, "shop", map[string]string{"queue_depth": queue})
}

// start starts the manager with more arguments.
func (r *run) start(ctx context.Context, more ...string) (err error) {
	r.manager, err = r.cluster.StartManager(ctx, harness.ManagerOptions{
		WebhookPort: r.port, Binary: r.binary, Env: []string{r.clockFile.Env()},
		Args: append([]string{"--requeue-jitter-max=0", "--metric-interval=1s"}, more...),
	})
	return err
}

// withoutFiles replaces the manager by one whose folder of certificate files is empty.
func withoutFiles(ctx context.Context, r *run) error {
	empty, err := os.MkdirTemp(r.cluster.Dir, "certificate")
	if err != nil {
		return err
	}
	if err := errors.Join(r.manager.Stop(), r.start(ctx, "--webhook-cert-dir="+empty)); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience/4, true, func(ctx context.Context) (bool, error) {
		_, err := r.scrape(ctx)
		return err == nil, nil
	})
}

// set moves the manager's clock to a time of Monday, 2025-01-27, in UTC.
func (r *run) set(at string) error { return r.clockFile.Set("2025-01-27 " + at) }

// enter enters a stage, waits for its metrics and stores the scrapes.
func (r *run) enter(ctx context.Context, s stage) error {
	if err := r.set(s.at); err != nil {
		return err
	}
	if s.do != nil {
		if err := s.do(ctx, r); err != nil {
			return err
		}
	}
	last := ""
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience/4, true, func(ctx context.Context) (bool, error) {
		text, err := r.scrape(ctx)
		if err != nil {
			return false, err
		}
		last = missing(text, s.shows)
		return last == "", nil
	})
	if err != nil {
		return fmt.Errorf("%w: the metrics do not show %s", err, last)
	}
	return r.keep(ctx, s.at)
}
