package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"kyklos.io/kyklos/test/platform/devcluster/externalmetrics"
)

// startExternalMetrics starts the API service of the external metrics if it is wanted, and otherwise takes
// back what an earlier run in the same folder registered. The service ends with ctx and counts in parts;
// served returns nil once it answers behind the aggregator.
func startExternalMetrics(ctx, starting context.Context, parts *sync.WaitGroup, dir *Dir, opts Options, creds *Credentials, host string) (
	served func(context.Context) error, err error) {
	config := creds.client(host, componentUser)
	registration, err := externalmetrics.NewRegistration(config)
	if err != nil {
		return nil, err
	}
	if !opts.ExternalMetrics {
		return func(context.Context) error { return nil }, registration.Unregister(starting)
	}
	server, err := newExternalMetrics(starting, dir, creds, config)
	if err != nil {
		return nil, err
	}
	parts.Go(func() {
		if err := server.Run(ctx); err != nil && ctx.Err() == nil {
			klog.ErrorS(err, "The external metrics service ended")
		}
	})
	return registration.Served, poll(starting, "the external metrics cannot be registered", func(ctx context.Context) error {
		return registration.Register(ctx, creds.CA, server.Port) // the namespace may not be there yet
	})
}

func newExternalMetrics(ctx context.Context, dir *Dir, creds *Credentials, config *rest.Config) (*externalmetrics.Server, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of the external metrics: %w", err)
	}
	// The service refuses to be built before the API server has said how it proves itself.
	err = poll(ctx, "the API server does not say how an API service shall trust it", func(ctx context.Context) error {
		trust, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
		if err == nil && trust.Data["requestheader-client-ca-file"] == "" {
			err = errors.New("ConfigMap extension-apiserver-authentication has no requestheader-client-ca-file")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	kubeconfig, err := dir.writeKubeconfig(filepath.Join("pki", "external-metrics.kubeconfig"), creds, config.Host, componentUser)
	if err != nil {
		return nil, err
	}
	return externalmetrics.New(config, externalmetrics.Files{
		Certificate: dir.Path("pki", "external-metrics.crt"), Key: dir.Path("pki", "external-metrics.key"), Kubeconfig: kubeconfig,
	})
}
