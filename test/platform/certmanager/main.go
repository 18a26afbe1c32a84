// Command certmanager is cert-manager's certificate and issuer controllers and its CA injector in one
// process, for tests on a cluster that runs no images. Its webhook and its ACME, ingress and gateway
// controllers are left out. The cluster must have cert-manager's CRDs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	// controller-runtime has defined -kubeconfig on the global flag set.
	flag.Parse()
	logger := klog.Background()
	ctrl.SetLogger(logger)
	ctx, stop := signal.NotifyContext(klog.NewContext(context.Background(), logger), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.Lookup("kubeconfig").Value.String()); err != nil {
		fmt.Fprintln(os.Stderr, "certmanager:", err)
		os.Exit(1)
	}
}

// run works until ctx ends, which is not an error.
func run(ctx context.Context, kubeconfig string) error {
	if kubeconfig == "" {
		return fmt.Errorf("-kubeconfig is required: name the file that reaches the cluster")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return issue(ctx, kubeconfig) })
	group.Go(func() error { return inject(ctx, rest.CopyConfig(config)) })
	return group.Wait()
}
