// Command argocd runs the parts of Argo CD that keep Applications in sync, for tests of Kyklos under
// GitOps: its application controller and repo server, as they are released, and Redis, in one process. It
// runs until its input ends or it gets SIGTERM. Needs git.
//
// Argo CD reads some of its settings while its packages are loaded, so they are environment variables: those
// that ADDRESS and KUBECONFIG cannot say are ARGOCD_FAKE_IN_CLUSTER=true, ARGOCD_GPG_ENABLED=false, and
// ARGOCD_TLS_DATA_PATH, ARGOCD_SSH_DATA_PATH, ARGOCD_ASK_PASS_SOCK and TMPDIR below a folder of this
// instance's own.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/alicebob/miniredis/v2"
	controller "github.com/argoproj/argo-cd/v3/cmd/argocd-application-controller/commands"
	reposerver "github.com/argoproj/argo-cd/v3/cmd/argocd-repo-server/commands"
	"github.com/spf13/cobra"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the cluster that Argo CD's own objects and the applications are on")
	namespace := flag.String("namespace", "argocd", "the namespace of Argo CD's own objects")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := run(ctx, *kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "argocd:", err)
		os.Exit(1)
	}
}

// run returns when ctx is done or a part ends.
func run(ctx context.Context, kubeconfig, namespace string) error {
	redis, err := miniredis.Run()
	if err != nil {
		return fmt.Errorf("start Redis: %w", err)
	}
	defer redis.Close()
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	repo, repoMetrics, controllerMetrics := ports[0], ports[1], ports[2]
	ended := make(chan error, 2)
	start := func(name string, command *cobra.Command, args ...string) {
		command.SetArgs(append(args, "--redis", redis.Addr(), "--loglevel", "warn", "--logformat", "text"))
		go func() { ended <- fmt.Errorf("the %s ended: %w", name, command.ExecuteContext(ctx)) }()
	}
	start("repo server", reposerver.NewCommand(), "--disable-tls", "--address", "127.0.0.1", "--port", repo,
		"--metrics-address", "127.0.0.1", "--metrics-port", repoMetrics)
	start("application controller", controller.NewCommand(), "--kubeconfig", kubeconfig, "--namespace", namespace,
		"--repo-server", "127.0.0.1:"+repo, "--repo-server-plaintext", "--metrics-port", controllerMetrics,
		"--app-resync", "10", "--app-resync-jitter", "0", "--persist-resource-health")
	select {
	case <-ctx.Done():
		return nil // what it has is in the cluster
	case err := <-ended:
		return err
	}
}

// freePorts returns loopback ports that are free now.
func freePorts(count int) ([]string, error) {
	var ports []string
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports = append(ports, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}
