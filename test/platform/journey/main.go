// Command journey leads a manager on a real API server through what makes its metrics appear, and keeps what
// both serve on the way. test/platform/monitoring reads that: Prometheus's packages stay out of this module.
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

// patience bounds the whole journey.
const patience = 5 * time.Minute

// objects are the namespace shop with a schedule or Workspace for each thing that can be seen.
//
//go:embed objects.yaml
var objects string

// queue is a value of the external metric that the schedule mail follows.
const queue = `[{labels: {queue: mail}, value: "90"}]`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: journey FOLDER")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := travel(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "journey:", err)
		os.Exit(1)
	}
}

// journey is one on its way.
type journey struct {
	cluster *harness.Cluster
	manager *harness.Manager
	api     kubernetes.Interface
	// folder gets the scrapes, clockFile is what moves the manager's clock.
	folder    string
	clockFile harness.Clock
	// binary is the manager's, port its webhooks'.
	binary string
	port   int
}

func travel(ctx context.Context, folder string) (err error) {
	scratch, err := os.MkdirTemp("", "kyklos-journey")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	binary := filepath.Join(scratch, "kyklos")
	if err := harness.BuildMovable(ctx, binary); err != nil {
		return err
	}
	j := &journey{folder: folder, clockFile: harness.Clock(filepath.Join(scratch, "clock")), binary: binary}
	if j.cluster, err = harness.Start(ctx, filepath.Join(scratch, "cluster"), harness.ExternalMetrics, harness.HostProcesses); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.cluster.Stop()) }()
	if j.api, err = kubernetes.NewForConfig(j.cluster.Config); err != nil {
		return err
	}
	if j.port, err = harness.FreePort(); err != nil {
		return err
	}
	if err := j.withoutManager(ctx); err != nil {
		return err
	}
	if err := j.set(stages[0].at); err != nil {
		return err
	}
	if err := j.start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.manager.Stop()) }()
	if err := j.manager.AwaitReady(ctx); err != nil {
		return err
	}
	for _, stage := range stages {
		if err := j.pass(ctx, stage); err != nil {
			return fmt.Errorf("at %s: %w", stage.at, err)
		}
	}
	return nil
}

// withoutManager makes the API server miss its webhooks.
func (j *journey) withoutManager(ctx context.Context) error {
	if err := j.cluster.Install(ctx, j.port); err != nil {
		return err
	}
	if _, _, err := j.cluster.Kubectl(ctx, objects, "apply", "-f", "-"); err != nil {
		return err
	}
	if _, _, err := j.cluster.Kubectl(ctx, "", "get", "timewindowscalers.v1alpha1.kyklos.io", "-A"); err == nil {
		return errors.New("schedules in v1alpha1 were read without a manager")
	}
	return j.cluster.WriteExternalMetrics(ctx, "shop", map[string]string{"queue_depth": queue})
}

// start starts the manager, with more arguments if need be.
func (j *journey) start(ctx context.Context, more ...string) (err error) {
	j.manager, err = j.cluster.StartManager(ctx, harness.ManagerOptions{
		WebhookPort: j.port, Binary: j.binary, Env: []string{j.clockFile.Env()},
		Args: append([]string{"--requeue-jitter-max=0", "--metric-interval=1s"}, more...),
	})
	return err
}

// withoutFiles lets another manager come, whose folder of certificate files is empty.
func withoutFiles(ctx context.Context, j *journey) error {
	empty, err := os.MkdirTemp(j.cluster.Dir, "certificate")
	if err != nil {
		return err
	}
	if err := errors.Join(j.manager.Stop(), j.start(ctx, "--webhook-cert-dir="+empty)); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience/4, true, func(ctx context.Context) (bool, error) {
		_, err := j.scrape(ctx)
		return err == nil, nil
	})
}

// set moves the manager's clock to a time of Monday, 2025-01-27, in UTC.
func (j *journey) set(at string) error { return j.clockFile.Set("2025-01-27 " + at) }

// pass brings about what a stage is for and keeps the scrapes.
func (j *journey) pass(ctx context.Context, s stage) error {
	if err := j.set(s.at); err != nil {
		return err
	}
	if s.do != nil {
		if err := s.do(ctx, j); err != nil {
			return err
		}
	}
	last := ""
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience/4, true, func(ctx context.Context) (bool, error) {
		text, err := j.scrape(ctx)
		if err != nil {
			return false, err
		}
		last = missing(text, s.shows)
		return last == "", nil
	})
	if err != nil {
		return fmt.Errorf("%w: the metrics do not show %s", err, last)
	}
	return j.keep(ctx, s.at)
}
