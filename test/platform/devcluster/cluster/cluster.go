// Package cluster runs a Kubernetes control plane in this process and keeps it in one folder.
package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/test/platform/devcluster/controllers"
	"kyklos.io/kyklos/test/platform/devcluster/kubelet"
)

// startLimit bounds the wait for a usable cluster; it is far above any start seen, so reaching it means a
// fault worth reading the log for.
const startLimit = 2 * time.Minute

// stopGrace is what the API server gets to finish requests; controllers and node have ended before.
const stopGrace = 2 * time.Second

// nodeName is the one node's.
const nodeName = "devcluster"

// Options choose what runs.
type Options struct {
	// Dir keeps the cluster; see OpenDir.
	Dir string
	// Port of the API server on 127.0.0.1; 0 takes the one used before in Dir, or a free one.
	Port int
	// Kubelet adds one simulated node.
	Kubelet bool
	// PodReadyDelay is the time from a pod's start to Ready where its own annotation says nothing.
	PodReadyDelay time.Duration
	// HostProcesses runs the containers of images host:// as processes of this machine, and makes volumes
	// as folders; see kubelet.Processes and folders.Provisioner.
	HostProcesses bool
	// Without names controllers that do not run.
	Without []string
	// AuditLog writes audit.log in Dir: one line per answered request, without bodies, never rotated.
	AuditLog bool
	// ExternalMetrics adds an API service of external.metrics.k8s.io; see package externalmetrics.
	ExternalMetrics bool
	// Etcd is the URL of a store to use instead of one in this process.
	Etcd string
	// EtcdGateway serves the store's JSON gateway; its URL is in the file etcd-url in Dir.
	EtcdGateway bool
	// APIServer is the path of a kube-apiserver to run; empty for the one in this program.
	APIServer string
	// APIServerArgs are further kube-apiserver flags; they win over the built-in ones.
	APIServerArgs []string
}

// Run starts everything in order, calls ready with the kubeconfig's path once the cluster is usable, and
// stops everything in reverse when ctx ends, which is not an error. Run may be called once in a process: the
// API server's feature gates and metrics are global.
func Run(ctx context.Context, dir *Dir, opts Options, ready func(kubeconfig string)) error {
	creds, err := dir.credentials(time.Now())
	if err != nil {
		return err
	}
	listener, err := dir.listen(opts.Port)
	if err != nil {
		return err
	}
	// The listener is never closed: it ends with the process. An API server that has not ended by then panics when
	// it is closed under it.
	etcdURL, closeEtcd, err := openEtcd(ctx, dir, opts)
	if err != nil {
		return quiet(ctx, err)
	}
	// Each stage has a context of its own, so that the end of ctx stops them one by one: defers run upwards.
	serverCtx, stopServer := context.WithCancelCause(context.WithoutCancel(ctx))
	serve, err := apiServer(serverCtx, dir, opts, listener, etcdURL)
	if err != nil {
		stopServer(err)
		closeEtcd()
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// A server that ends by itself ends the run: cause distinguishes it from one that was asked to stop.
		stopServer(fmt.Errorf("the API server ended: %w", orEnded(serve(serverCtx))))
	}()
	defer func() {
		stopServer(context.Canceled)
		select {
		case <-ended:
			closeEtcd()
		case <-time.After(stopGrace):
			// A client's open watch would hold the server for a minute, and the server its store. The end of
			// the process closes both, and the store survives even kill -9.
		}
	}()

	err = operate(serverCtx, ctx, dir, opts, creds, "https://"+listener.Addr().String(), ready)
	if cause := context.Cause(serverCtx); cause != nil {
		return cause
	}
	return quiet(ctx, err)
}

// operate runs what lives on top of a serving API server until user or server ends.
func operate(server, user context.Context, dir *Dir, opts Options, creds *Credentials, host string, ready func(string)) error {
	ctx, cancel := context.WithCancel(user)
	defer cancel()
	defer context.AfterFunc(server, cancel)()

	admin, err := kubernetes.NewForConfig(creds.client(host, adminUser))
	if err != nil {
		return fmt.Errorf("making the admin client: %w", err)
	}
	starting, started := context.WithTimeout(ctx, startLimit)
	defer started()
	if err := waitServing(starting, admin); err != nil {
		return err
	}
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel()
	if err := startParts(ctx, &parts, dir, opts, creds, creds.client(host, componentUser)); err != nil {
		return err
	}
	metricsServed, err := startExternalMetrics(ctx, starting, &parts, dir, opts, creds, host)
	if err != nil {
		return err
	}
	if err := waitUsable(starting, admin, metricsServed); err != nil {
		return err
	}
	kubeconfig, err := dir.writeKubeconfig("kubeconfig", creds, host, adminUser)
	if err != nil {
		return err
	}
	ready(kubeconfig)
	<-ctx.Done()
	return nil
}

// startParts starts the controllers and the node; they end with ctx and count in parts.
func startParts(ctx context.Context, parts *sync.WaitGroup, dir *Dir, opts Options, creds *Credentials, config *rest.Config) error {
	manager, err := controllers.New(ctx, config, creds.CA, opts.Without)
	if err != nil {
		return err
	}
	parts.Go(func() { manager.Run(ctx) })
	if !opts.Kubelet {
		return nil
	}
	listener, err := dir.listenKubelet(creds)
	if err != nil {
		return err
	}
	simulated := kubelet.Simulated{ReadyDelay: opts.PodReadyDelay}
	if opts.HostProcesses {
		return startHost(ctx, parts, dir, config, listener, simulated)
	}
	node, err := kubelet.New(config, nodeName, simulated, listener)
	if err != nil {
		return err
	}
	parts.Go(func() { node.Run(ctx) })
	return nil
}

// quiet drops an error that only says that the user asked to stop.
func quiet(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func orEnded(err error) error {
	if err == nil {
		return fmt.Errorf("without an error")
	}
	return err
}
