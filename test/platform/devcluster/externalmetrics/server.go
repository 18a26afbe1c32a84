package externalmetrics

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd"
)

// Files are what the server reads, by path: its serving certificate, and the kubeconfig it asks the API
// server with whose token or client certificate a request came with, and what its user may do.
type Files struct {
	Certificate, Key, Kubeconfig string
}

// Server is the API service, built and listening but not yet answering.
type Server struct {
	// Port on 127.0.0.1.
	Port    int32
	adapter *adapter.AdapterBase
}

// New builds the service on a free loopback port. The ConfigMap extension-apiserver-authentication must be
// there already: from it the service learns how to trust the aggregator. config is for reading the metrics.
func New(config *rest.Config, files Files) (*Server, error) {
	config = rest.CopyConfig(config)
	config.UserAgent += "/external-metrics"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the client of the external metrics: %w", err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening the port of the external metrics: %w", err)
	}
	base := &adapter.AdapterBase{
		Name: "external-metrics", RemoteKubeConfigFile: files.Kubeconfig,
		FlagSet: pflag.NewFlagSet("external-metrics", pflag.ContinueOnError), // not the process's own flags
	}
	base.InstallFlags() // makes the options
	base.SecureServing.Listener = listener
	base.SecureServing.ServerCert.CertKey.CertFile = files.Certificate
	base.SecureServing.ServerCert.CertKey.KeyFile = files.Key
	base.Authentication.RemoteKubeConfigFile = files.Kubeconfig
	base.Authorization.RemoteKubeConfigFile = files.Kubeconfig
	base.WithExternalMetrics(source{maps: client.CoreV1()})
	if _, err := base.Server(); err != nil {
		listener.Close()
		return nil, fmt.Errorf("building the external metrics service: %w", err)
	}
	return &Server{Port: int32(listener.Addr().(*net.TCPAddr).Port), adapter: base}, nil
}

// Run answers requests until ctx ends, and lets those under way finish.
func (s *Server) Run(ctx context.Context) error { return s.adapter.Run(ctx) }
