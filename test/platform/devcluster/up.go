package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
	etcdversion "go.etcd.io/etcd/api/v3/version"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"

	"kyklos.io/kyklos/test/platform/devcluster/cluster"
)

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "devcluster",
		Short:         "A Kubernetes control plane in one process, for development and tests",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newUpCommand(), newVersionCommand(),
		// The applets never get here (main takes them first); they are listed for the help text.
		&cobra.Command{Use: "kubectl", Short: "Be kubectl", Run: func(*cobra.Command, []string) {}},
		&cobra.Command{Use: "etcd", Short: "Be etcd", Run: func(*cobra.Command, []string) {}},
		&cobra.Command{Use: "kube-apiserver", Short: "Be kube-apiserver", Run: func(*cobra.Command, []string) {}},
	)
	return root
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions inside",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "Kubernetes %s, etcd v%s\n", version.Get().GitVersion, etcdversion.Version)
		},
	}
}

func newUpCommand() *cobra.Command {
	var options cluster.Options
	var exitWithStdin bool
	cmd := &cobra.Command{
		Use:   "up --dir DIR",
		Short: "Run the control plane until interrupted",
		Long: `Run etcd, kube-apiserver, controllers and a simulated kubelet until SIGINT or SIGTERM.

Everything is kept in DIR: objects, certificates, tokens and the API server's port, so a second start is
quick and an old kubeconfig stays valid. When the cluster is usable one line is printed:

    devcluster is ready: KUBECONFIG=DIR/kubeconfig

The components log to DIR/devcluster.log. Pods are simulated; annotations on a pod steer its fate, also later:

    devcluster.kyklos.io/ready-delay: 5s   from its start to Ready
    devcluster.kyklos.io/ready: "false"    unready until changed
    devcluster.kyklos.io/phase: Failed     or Pending, Running, Succeeded

With --host-processes a container whose image begins with host:// is a process of this machine, run by your
own user and without walls: host:///usr/bin/env is an image with that entrypoint. Claims of the default
class standard get the folders DIR/volumes/UID, also of simulated pods. What kubectl logs shows stays in
DIR/pods/NAMESPACE_NAME_UID/CONTAINER.

With --external-metrics a namespace's ConfigMap external-metrics holds its metrics, one key each. A change
counts from the next request on; "error: some text" makes the service answer 500 with that text:

    data: {queue_length: '[{labels: {queue: orders}, value: "350"}]'}`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if options.Dir == "" {
				return fmt.Errorf("--dir is required: name the folder that keeps the cluster, for example --dir .devcluster")
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			if exitWithStdin {
				ctx = untilClosed(ctx, os.Stdin)
			}
			return up(ctx, cmd.OutOrStdout(), options)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options.Dir, "dir", "", "folder that keeps the cluster, made if missing (required)")
	flags.IntVar(&options.Port, "port", 0, "loopback port of the API server; 0 takes the one used before in DIR, or a free one")
	flags.BoolVar(&options.Kubelet, "kubelet", true, "run one simulated node, which binds pods and reports them Running and Ready")
	flags.BoolVar(&options.HostProcesses, "host-processes", false, "run containers with images host:// as processes of this machine, with folders in DIR as volumes")
	flags.DurationVar(&options.PodReadyDelay, "pod-ready-delay", 0, "time from a pod's start to Ready, where its own annotation says nothing")
	flags.StringArrayVar(&options.Without, "without", nil, "controller that does not run, for example --without=deployment-controller (repeatable)")
	flags.BoolVar(&options.AuditLog, "audit-log", false, "write every request (level Metadata, when complete) to DIR/audit.log")
	flags.BoolVar(&options.ExternalMetrics, "external-metrics", false, "serve external.metrics.k8s.io from ConfigMaps")
	flags.StringVar(&options.Etcd, "etcd", "", "URL of an etcd to use, for example of devcluster etcd; empty runs one in this process, in DIR")
	flags.BoolVar(&options.EtcdGateway, "etcd-gateway", false, "answer etcd's API as JSON, at the URL in DIR/etcd-url")
	flags.StringVar(&options.APIServer, "kube-apiserver", "", "path of another kube-apiserver to run, such as one of another minor version")
	flags.StringArrayVar(&options.APIServerArgs, "apiserver-arg", nil, "further kube-apiserver flag, for example --apiserver-arg=--v=4 (repeatable)")
	flags.BoolVar(&exitWithStdin, "exit-with-stdin", false, "stop when stdin closes, so that nothing outlives the program that started this one")
	return cmd
}

// untilClosed returns a context that also ends when r does.
func untilClosed(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, r)
	}()
	return ctx
}

// up runs the cluster with the terminal kept quiet: whatever any component writes to stderr, a panic
// included, lands in DIR/devcluster.log.
func up(ctx context.Context, stdout io.Writer, options cluster.Options) error {
	dir, err := cluster.OpenDir(options.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	terminal, err := redirectStderr(dir.Path("devcluster.log"))
	if err != nil {
		return err
	}
	klog.OsExit = func(code int) {
		if ctx.Err() != nil {
			os.Exit(0) // the API server calls it fatal when a stop cuts its start-up short
		}
		fmt.Fprintf(terminal, "devcluster: a component gave up, see the end of %s\n", dir.Path("devcluster.log"))
		os.Exit(code)
	}
	// Nearly all that a start allocates stays, so collecting it early is work for nothing.
	usual := debug.SetGCPercent(400)
	err = cluster.Run(ctx, dir, options, func(kubeconfig string) {
		debug.SetGCPercent(usual)
		fmt.Fprintf(stdout, "devcluster is ready: KUBECONFIG=%s\n", kubeconfig)
	})
	if err != nil {
		fmt.Fprintf(terminal, "devcluster: %v (log: %s)\n", err, dir.Path("devcluster.log"))
		os.Exit(1) // main would write the error to stderr, which is the log by now
	}
	return nil
}

// redirectStderr points file descriptor 2 at the file and returns what it was before.
func redirectStderr(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer file.Close()
	old, err := syscall.Dup(int(os.Stderr.Fd()))
	if err != nil {
		return nil, fmt.Errorf("keeping the terminal: %w", err)
	}
	syscall.CloseOnExec(old)
	if err := syscall.Dup3(int(file.Fd()), int(os.Stderr.Fd()), 0); err != nil {
		return nil, fmt.Errorf("redirecting stderr to the log: %w", err)
	}
	return os.NewFile(uintptr(old), "terminal"), nil
}
