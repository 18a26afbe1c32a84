// Command quickstart is `make run`: a Kubernetes control plane with Kyklos on it and the samples
// applied, all on this machine, until interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/term"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/test/harness"
)

func main() {
	dir, err := parseFlags(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "make run:", err)
		os.Exit(2)
	}
	log.SetLogger(logr.Discard()) // a client would complain about a missing logger
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, dir, os.Stdout, term.IsTerminal(int(os.Stdout.Fd()))); err != nil {
		fmt.Fprintln(os.Stderr, "make run:", err)
		os.Exit(1)
	}
}

// parseFlags refuses further arguments: a misspelt flag would otherwise be ignored. A wrong flag ends the program with
// the usage.
func parseFlags(args []string) (dir string, err error) {
	flags := flag.NewFlagSet("quickstart", flag.ExitOnError)
	flags.StringVar(&dir, "dir", ".devcluster", "folder that keeps the cluster; another one runs side by side")
	_ = flags.Parse(args)
	if flags.NArg() > 0 {
		return "", fmt.Errorf("unexpected argument %q: name the folder with --dir", flags.Arg(0))
	}
	return dir, nil
}

// stopPatience is how long the manager, and then the cluster, have to stop. Together they take at most ten seconds.
const stopPatience = 4500 * time.Millisecond

// run starts everything, shows it until ctx ends, and stops it. What the first minute does not need is built meanwhile.
func run(ctx context.Context, dir string, out io.Writer, terminal bool) (err error) {
	fmt.Fprintf(out, "Starting a Kubernetes control plane in %s ...\n", dir)
	kyklos := inBackground(ctx, func(ctx context.Context) error { return build(ctx, ".", "kyklos", out) })
	defer kyklos.stop()
	cluster, err := harness.Start(ctx, dir, harness.HostProcesses)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	studio := newStudio(cluster)
	studio.startStore(ctx)
	// The movers end with the cluster, and the store has no partial objects.
	defer func() { err = errors.Join(err, cluster.StopWithin(stopPatience), studio.stop()) }()

	manager, err := startKyklos(ctx, cluster, kyklos, out)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer func() { err = errors.Join(err, manager.StopWithin(stopPatience)) }()

	fmt.Fprintln(out, "Applying config/samples ...")
	if err := applySamples(ctx, cluster, time.Now()); err != nil {
		return unlessStopped(ctx, err)
	}
	client, err := cluster.Client()
	if err != nil {
		return err
	}
	table := &table{client: client, homes: homes{dir: dir}}
	if err := table.settle(ctx); err != nil {
		return unlessStopped(ctx, err)
	}
	fmt.Fprint(out, greeting(dir))
	studio.open(ctx, out)
	return table.show(ctx, out, terminal, manager.Done(), studio)
}

// unlessStopped returns err, or nil if it came from an interrupt.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// startKyklos installs Kyklos, waits until it is built, and starts it.
func startKyklos(ctx context.Context, cluster *harness.Cluster, built *job, out io.Writer) (*harness.Manager, error) {
	port, err := harness.FreePort()
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(out, "Installing Kyklos from config/overlays/self-managed ...")
	if err := cluster.Install(ctx, port); err != nil {
		return nil, err
	}
	if err := built.wait(); err != nil {
		return nil, err
	}
	kyklos, err := harness.Binary("kyklos")
	if err != nil {
		return nil, err
	}
	logFile, err := os.Create(filepath.Join(cluster.Dir, "kyklos.log"))
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(out, "Starting kyklos manager as its ServiceAccount ...")
	manager, err := cluster.StartManager(ctx, harness.ManagerOptions{
		WebhookPort: port,
		Log:         logFile,
		// There is one manager, so it needs no Lease. It flips at the boundary itself, so that the samples show when
		// they are due. Movers are processes, as the sample's workspace is, and the store is on this machine.
		Args: []string{"--leader-elect=false", "--requeue-jitter-max=0", "--mover-image=" + harness.HostImage(kyklos), "--archive-loopback"},
	})
	if err != nil {
		return nil, err
	}
	ready, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := manager.AwaitReady(ready); err != nil {
		return nil, errors.Join(fmt.Errorf("%w (see %s)", err, logFile.Name()), manager.StopWithin(stopPatience))
	}
	return manager, nil
}

func greeting(dir string) string {
	return fmt.Sprintf(`kyklos is ready: minute-hand scales up within two minutes, and down a minute later; Ctrl-C stops everything

Try in another terminal:
  export KUBECONFIG=%s
  bin/kubectl get tws                                  the schedules
  bin/kubectl get deployments --watch                  the workloads being scaled
  bin/kubectl scale deployment webapp --replicas 7     manual drift, set right at once
  bin/kubectl describe tws webapp-office-hours         its conditions and events
  bin/kubectl apply -f config/samples/invalid/         mistakes, each refused with its reason
  bin/kubectl explain tws.spec.windows                 the reference

`, filepath.Join(dir, "kubeconfig"))
}
