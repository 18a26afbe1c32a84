package manager

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/internal/buildinfo"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kyklos-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kyklos-system,resources=leases,resourceNames=kyklos-manager,verbs=get;update

const (
	// leaseName is the Lease by which replicas elect their leader.
	leaseName = "kyklos-manager"
	// identityVariable hands the lease's holder identity to the next start in the same process.
	identityVariable = "KYKLOS_LEASE_IDENTITY"
	// readinessInterval is how often an API server that is away is asked whether it is back.
	readinessInterval = 500 * time.Millisecond
	// leaseDuration is how long the others wait for a leader that renews its Lease no more.
	leaseDuration = 13 * time.Second
	// renewDeadline is how long a leader tries to renew its Lease before it stops.
	renewDeadline = 10 * time.Second
	// retryPeriod is how often a leader renews its Lease. The others look at it after one to 2.2 of these, so
	// they lead within two seconds of its release, and within 17 of its last renewal.
	retryPeriod = 800 * time.Millisecond
)

// superviseManager runs the manager and outlives outages of the API server. A leader that cannot
// renew its Lease must stop at once; it then starts over by replacing the process's image, so that
// nothing of the old manager lives on, and no supervisor's restart delay, which grows to minutes,
// makes the next flip late.
func superviseManager(ctx context.Context, o managerOptions) error {
	logger := o.logger()
	ctrl.SetLogger(logger)
	klog.SetLogger(logger.WithName("client-go"))
	config, err := o.restConfig()
	if err != nil {
		return err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	if err := awaitAPIServer(ctx, server.RESTClient(), o.healthAddress, logger); err != nil {
		return err
	}
	identity := leaseIdentity()
	ran, err := runManager(ctx, config, o, identity)
	if ctx.Err() != nil || err == nil {
		return nil
	}
	if !ran && ready(ctx, server.RESTClient()) == nil {
		return err // nothing that starting over would mend
	}
	logger.Error(err, "The manager stopped; starting over")
	return startOver(identity)
}

// restConfig has no client-side rate limit: the API server's priority and fairness decides who waits.
func (o *managerOptions) restConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	config.QPS = -1
	config.UserAgent = "kyklos/" + buildinfo.Version()
	return config, nil
}

// awaitAPIServer returns when the API server is ready or ctx ends. Informers that start while it is
// away back off for up to half a minute; this does not. Meanwhile the manager is alive and not ready.
func awaitAPIServer(ctx context.Context, server rest.Interface, healthAddress string, logger logr.Logger) error {
	err := ready(ctx, server)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	logger.Info("Waiting for the API server", "reason", err.Error())
	stop, err := serveLiveness(ctx, healthAddress)
	if err != nil {
		return err
	}
	defer stop()
	_ = wait.PollUntilContextCancel(ctx, readinessInterval, false, func(ctx context.Context) (bool, error) {
		return ready(ctx, server) == nil, nil
	})
	return nil
}

// serveLiveness answers /healthz, and nothing else, until stop is called: a kubelet that restarts the
// container would make its next start wait, for minutes in the end.
func serveLiveness(ctx context.Context, address string) (stop func(), err error) {
	if address == "0" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for health probes: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	probes := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = probes.Serve(listener) }()
	return func() { _ = probes.Close() }, nil
}

func ready(ctx context.Context, server rest.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return server.Get().AbsPath("/readyz").Do(ctx).Error()
}

// leaseIdentity is this process's name in the Lease. It survives starting over: nobody else can have
// got the name, so the Lease need not run out first.
func leaseIdentity() string {
	if identity := os.Getenv(identityVariable); identity != "" {
		return identity
	}
	hostname, err := os.Hostname()
	if err != nil {
		hostname = "kyklos"
	}
	return hostname + "_" + uuid.NewString()
}

func newLease(config *rest.Config, namespace, identity string) (resourcelock.Interface, error) {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, leaseName,
		resourcelock.ResourceLockConfig{Identity: identity}, rest.CopyConfig(config), renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("make the leader election's Lease: %w", err)
	}
	return lock, nil
}

// startOver replaces this process's image by a new start of the same command.
func startOver(identity string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the own executable to start over: %w", err)
	}
	environment := append(os.Environ(), identityVariable+"="+identity)
	return syscall.Exec(self, os.Args, environment)
}

// sinceStart measures time that steps of the wall clock do not touch.
func sinceStart() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
