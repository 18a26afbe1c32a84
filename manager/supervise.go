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
	"kyklos.io/kyklos/internal/undecodable"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kyklos-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=kyklos-system,resources=leases,resourceNames=kyklos-manager,verbs=get;update

const (
	// leaseName is the Lease by which replicas elect their leader.
	leaseName = "kyklos-manager"
	// identityVariable passes the lease holder's identity to the next start in the same process.
	identityVariable = "KYKLOS_LEASE_IDENTITY"
	// readinessInterval is how often an unavailable API server is polled.
	readinessInterval = 500 * time.Millisecond
	// leaseDuration is how long the other replicas wait for a leader that no longer renews its Lease.
	leaseDuration = 13 * time.Second
	// renewDeadline is how long a leader tries to renew its Lease before it stops.
	renewDeadline = 10 * time.Second
	// retryPeriod is how often a leader renews its Lease. The others poll it after 1 to 2.2 periods, so one of them leads
	// within two seconds of its release, and within 17 seconds of its last renewal.
	retryPeriod = 800 * time.Millisecond
)

// superviseManager runs the manager and survives outages of the API server. A leader that cannot renew its Lease must
// stop at once; it then restarts by replacing the process's image: nothing of the old manager survives, and the kubelet's
// restart back-off, which grows to minutes, does not delay the next flip.
func superviseManager(ctx context.Context, o options) error {
	logger := o.logger()
	ctrl.SetLogger(logger)
	klog.SetLogger(logger.WithName("client-go"))
	limitGarbage()
	config, err := o.restConfig()
	if err != nil {
		return err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("create an API server client: %w", err)
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
		return err // a restart would not help
	}
	logger.Error(err, "The manager stopped; restarting")
	return restart(identity)
}

// restConfig has no client-side rate limit: the API server's priority and fairness applies. An object that cannot be decoded
// does not hide the others.
func (o *options) restConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	config.QPS = -1
	config.UserAgent = "kyklos/" + buildinfo.Version()
	config.Wrap(undecodable.Transport)
	config.Wrap(limitEvents())
	return config, nil
}

// awaitAPIServer returns when the API server is ready or ctx ends. Informers that start earlier back off for up to half a
// minute; this does not. Meanwhile the manager is alive and not ready.
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

// serveLiveness serves only /healthz until stop is called: restarts by the kubelet would be delayed by its back-off.
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

// leaseIdentity is this process's name in the Lease. It survives a restart: the name is unique, so the Lease need not
// expire first.
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

func newLease(config *rest.Config, namespace, identity string) (*fence, error) {
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, namespace, leaseName,
		resourcelock.ResourceLockConfig{Identity: identity}, rest.CopyConfig(config), renewDeadline)
	if err != nil {
		return nil, fmt.Errorf("create the leader election lock: %w", err)
	}
	return &fence{Interface: lock, elapsed: sinceStart()}, nil
}

// restart replaces this process's image by a new start of the same command.
func restart(identity string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the executable to restart: %w", err)
	}
	environment := append(os.Environ(), identityVariable+"="+identity)
	return syscall.Exec(self, os.Args, environment)
}

// sinceStart measures time that clock steps do not affect.
func sinceStart() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
