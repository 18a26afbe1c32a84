// Package manager has the commands that Kyklos runs in a cluster: the operator, movers and heartbeats.
package manager

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"kyklos.io/kyklos/certs"
	"kyklos.io/kyklos/controller/storagemigration"
	"kyklos.io/kyklos/controller/timewindowscaler"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/controller/workspace"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/scheme"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
	"kyklos.io/kyklos/internal/wallclock"
	"kyklos.io/kyklos/webhooks/admission"
	"kyklos.io/kyklos/webhooks/conversion"
)

// Commands returns the commands that Kyklos runs in a cluster.
func Commands() []*cobra.Command {
	return []*cobra.Command{newManagerCommand(), newMoverCommand(), newHeartbeatCommand()}
}

func newManagerCommand() *cobra.Command {
	options := defaultOptions()
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Run the operator: controller, webhooks, certificates",
		Long: `Run the operator until SIGTERM or SIGINT.

All replicas serve webhooks; only the leader scales. The manager survives outages of the API server: it
waits until the server is back and continues.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := options.validate(); err != nil {
				return err
			}
			return superviseManager(cmd.Context(), options)
		},
	}
	options.addFlags(cmd.Flags())
	return cmd
}

// runManager runs one manager until ctx ends, leadership is lost or a component cannot be started. ran is true if it was
// elected.
func runManager(ctx context.Context, config *rest.Config, o options, identity string) (ran bool, err error) {
	serving, err := newServing(config, o)
	if err != nil {
		return false, err
	}
	mgr, err := newManager(config, o, serving, identity)
	if err != nil {
		return false, err
	}
	if err := assemble(ctx, mgr, o, serving); err != nil {
		return false, err
	}
	err = mgr.Start(ctx)
	if serving != nil && ctx.Err() != nil {
		mgr.GetWebhookServer().(*drainingServer).drained()
	}
	select {
	case <-mgr.Elected():
		return true, err
	default:
		return false, err
	}
}

// assemble adds all controllers, webhooks and checks.
func assemble(ctx context.Context, mgr ctrl.Manager, o options, serving certs.Serving) error {
	kinds, err := targetkind.NewResolverFor(mgr.GetConfig(), mgr.GetHTTPClient(), wallclock.Clock)
	if err != nil {
		return err
	}
	err = timewindowscaler.SetupWithManager(ctx, mgr, timewindowscaler.Options{
		Clock:      wallclock.Clock,
		Monotonic:  sinceStart(),
		Requeue:    o.requeue,
		Kinds:      kinds,
		Namespaces: o.namespaces,
		Workspaces: o.workspaces.scope(),
		Workers:    o.workers,
		Metrics:    o.metrics,
		OnFight:    o.onFight,
	})
	if err != nil {
		return fmt.Errorf("set up the scaling controller: %w", err)
	}
	if o.migrate {
		if err := storagemigration.SetupWithManager(mgr, o.migration); err != nil {
			return fmt.Errorf("set up the storage migration: %w", err)
		}
	}
	if err := addWorkspaces(ctx, mgr, o); err != nil {
		return err
	}
	if err := addChecks(mgr, serving); err != nil {
		return err
	}
	if serving != nil {
		if err := admission.SetupWithManager(mgr, admission.Options{
			Kinds: kinds, Namespaces: o.namespaces, Workspaces: o.workspaces.scope(), CheckRequester: o.checkRequester, Clock: wallclock.Clock,
			Converts: func() error { return serving.Converts(nil) }, TryPod: workspace.PodTrial(mgr.GetClient()),
		}); err != nil {
			return fmt.Errorf("set up the webhooks: %w", err)
		}
		if err := conversion.SetupWithManager(mgr); err != nil {
			return fmt.Errorf("set up conversion: %w", err)
		}
	}
	metrics.RecordTZData(timecalc.TZDataVersion())
	return nil
}

func newManager(config *rest.Config, o options, serving certs.Serving, identity string) (ctrl.Manager, error) {
	clients, err := newClients(o)
	if err != nil {
		return nil, err
	}
	options := ctrl.Options{
		Scheme:   scheme.New(),
		Logger:   o.logger(),
		Cache:    o.cacheOptions(),
		NewCache: timewindowscaler.NewCache,
		// ConfigMaps are read by name, seldom: a cache would hold all of the cluster.
		Client: client.Options{
			FieldOwner: target.FieldManager, Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}}},
		},
		Metrics:                       o.metricsServer(serving),
		HealthProbeBindAddress:        o.healthAddress,
		GracefulShutdownTimeout:       ptr.To(8 * time.Second),
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(leaseDuration),
		RenewDeadline:                 ptr.To(renewDeadline),
		RetryPeriod:                   ptr.To(retryPeriod),
	}
	if serving != nil {
		options.WebhookServer = o.newWebhookServer(serving, clients)
	}
	if o.leaderElect {
		lease, err := newLease(config, o.ownNamespace(), identity)
		if err != nil {
			return nil, err
		}
		options.LeaderElection = true
		options.LeaderElectionID = leaseName // for metrics; the lock has its own name
		options.LeaderElectionResourceLockInterface = lease
		config = lease.guarded(config)
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("create the manager: %w", err)
	}
	if clients != nil {
		if err := mgr.Add(clients); err != nil {
			return nil, fmt.Errorf("add the check of clients: %w", err)
		}
	}
	return mgr, nil
}

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// metricsServer uses the webhooks' certificate, so that clients can verify the server before they send their token.
// Without webhooks the certificate is self-signed.
func (o *options) metricsServer(serving certs.Serving) metricsserver.Options {
	options := metricsserver.Options{BindAddress: o.metricsAddress, SecureServing: o.metricsSecure}
	if !o.metricsSecure {
		return options
	}
	options.FilterProvider = filters.WithAuthenticationAndAuthorization
	if serving != nil {
		options.TLSOpts = []func(*tls.Config){serving.TLSOpt}
	}
	return options
}
