package manager

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"kyklos.io/kyklos/certs"
	"kyklos.io/kyklos/controller/storagemigration"
	"kyklos.io/kyklos/controller/timewindowscaler"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/internal/wallclock"
)

// options are the manager's flags.
type options struct {
	kubeconfig  string
	namespace   string
	namespaces  []string
	leaderElect bool
	workers     int
	requeue     timewindowscaler.Requeue
	migrate     bool
	migration   storagemigration.Options
	metrics     extmetric.Options
	onFight     contention.OnFight
	workspaces  workspaceOptions

	healthAddress  string
	metricsAddress string
	metricsSecure  bool

	webhooks                bool
	webhookHost             string
	webhookPort             int
	webhookNames            []string
	webhookService          string
	certDir                 string
	certSecret              string
	caDuration              time.Duration
	leafDuration            time.Duration
	validatingConfiguration string
	mutatingConfiguration   string
	conversionDefinition    string

	logFormat string
	logLevel  string
}

func defaultOptions() options {
	return options{
		leaderElect: true,
		workers:     timewindowscaler.DefaultWorkers,
		requeue:     timewindowscaler.DefaultRequeue,
		metrics:     extmetric.DefaultOptions,
		migrate:     true,
		onFight:     contention.BackOff,
		workspaces:  defaultWorkspaceOptions(),
		migration: storagemigration.Options{
			Clock:       wallclock.Clock,
			Definitions: []string{"timewindowscalers.kyklos.io"},
			QPS:         storagemigration.DefaultQPS,
			Delay:       storagemigration.DefaultDelay,
		},
		healthAddress:           ":8081",
		metricsAddress:          ":8443",
		metricsSecure:           true,
		webhooks:                true,
		webhookPort:             9443,
		webhookService:          "kyklos-webhook",
		certSecret:              "kyklos-webhook-ca",
		caDuration:              certs.DefaultCADuration,
		leafDuration:            certs.DefaultLeafDuration,
		validatingConfiguration: "kyklos-webhook",
		mutatingConfiguration:   "kyklos-webhook",
		conversionDefinition:    "timewindowscalers.kyklos.io",
		logFormat:               "json",
		logLevel:                "info",
	}
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "path of a kubeconfig; empty uses KUBECONFIG, then the pod's ServiceAccount")
	flags.StringVar(&o.namespace, "namespace", o.namespace, "namespace of the manager's Lease and Secret; empty uses that of its pod")
	flags.StringSliceVar(&o.namespaces, "namespaces", o.namespaces, "namespaces to serve, comma separated; empty serves all")
	flags.BoolVar(&o.leaderElect, "leader-elect", o.leaderElect, "elect a leader among the replicas; only the leader scales")
	flags.IntVar(&o.workers, "workers", o.workers, "number of scalers that are reconciled at the same time")

	flags.DurationVar(&o.requeue.JitterMin, "requeue-jitter-min", o.requeue.JitterMin, "minimum delay after a boundary")
	flags.DurationVar(&o.requeue.JitterMax, "requeue-jitter-max", o.requeue.JitterMax, "maximum delay after a boundary; 0 acts exactly at the boundary and disables quantum and minimum")
	flags.DurationVar(&o.requeue.Quantum, "requeue-quantum", o.requeue.Quantum, "delays are rounded down to multiples of this, but never to before the boundary")
	flags.DurationVar(&o.requeue.Min, "requeue-min", o.requeue.Min, "minimum delay until the next pass")
	flags.DurationVar(&o.requeue.Max, "requeue-max", o.requeue.Max, "maximum delay until the next pass")

	flags.BoolVar(&o.migrate, "storage-migration", o.migrate, "rewrite stored scalers after the storage version has moved; needs permissions in all namespaces")
	flags.IntVar(&o.migration.QPS, "storage-migration-qps", o.migration.QPS, "maximum number of scalers rewritten per second after the storage version has moved, from 1 to 1000")
	flags.DurationVar(&o.migration.Delay, "storage-migration-delay", o.migration.Delay, "how long a new storage version is left alone before scalers are rewritten, from 0s to 1h: every API server must know it")
	flags.DurationVar(&o.metrics.Interval, "metric-interval", o.metrics.Interval, "interval between polls of a window's external metric, while that window is in effect; from 1s to 1h")
	flags.Float64Var(&o.metrics.Tolerance, "metric-tolerance", o.metrics.Tolerance, "fraction of its target by which a metric may differ before the replica count changes; from 0 to below 1")

	flags.StringVar((*string)(&o.onFight), "on-fight", string(o.onFight), "what to do when another writer keeps changing the replicas of a target: backoff corrects them at growing intervals, enforce immediately")

	o.workspaces.addFlags(flags)

	flags.StringVar(&o.healthAddress, "health-bind-address", o.healthAddress, "address of /healthz and /readyz; 0 disables them")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", o.metricsAddress, "address of /metrics; 0 disables it")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", o.metricsSecure, "serve metrics over TLS, to clients that may get /metrics")

	flags.BoolVar(&o.webhooks, "webhooks", o.webhooks, "serve the admission and conversion webhooks")
	flags.StringVar(&o.webhookHost, "webhook-host", o.webhookHost, "address on which webhooks are served; empty is every address")
	flags.IntVar(&o.webhookPort, "webhook-port", o.webhookPort, "port on which webhooks are served")
	flags.StringVar(&o.webhookService, "webhook-service", o.webhookService, "name of the Service in front of the webhooks")
	flags.StringSliceVar(&o.webhookNames, "webhook-names", o.webhookNames, "host names and addresses by which the API server calls the webhooks; empty derives them from the Service")
	flags.StringVar(&o.certDir, "webhook-cert-dir", o.certDir, "folder with tls.crt and tls.key, mounted from a Secret that others renew; empty makes the manager issue its own certificates")
	flags.StringVar(&o.certSecret, "webhook-ca-secret", o.certSecret, "Secret with the CA of the manager's own certificates")
	flags.DurationVar(&o.caDuration, "webhook-ca-duration", o.caDuration, "how long the manager's own CA is valid; at least 45s and three times --webhook-leaf-duration")
	flags.DurationVar(&o.leafDuration, "webhook-leaf-duration", o.leafDuration, "how long the manager's own certificate is valid; at least 6s")
	flags.StringVar(&o.validatingConfiguration, "validating-webhook-configuration", o.validatingConfiguration, "ValidatingWebhookConfiguration that must trust the certificate; empty checks none")
	flags.StringVar(&o.mutatingConfiguration, "mutating-webhook-configuration", o.mutatingConfiguration, "MutatingWebhookConfiguration that must trust the certificate; empty checks none")
	flags.StringVar(&o.conversionDefinition, "conversion-definition", o.conversionDefinition, "CustomResourceDefinition whose conversion webhook must trust the certificate; empty checks none")

	flags.StringVar(&o.logFormat, "log-format", o.logFormat, "json or text")
	flags.StringVar(&o.logLevel, "log-level", o.logLevel, "debug, info, warn or error")
}

func (o *options) validate() error {
	for _, check := range []func() error{
		o.requeue.Validate, o.metrics.Validate, o.onFight.Validate, o.migration.Validate,
		func() error { return o.workspaces.validate(o.namespaces) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	for _, namespace := range o.namespaces {
		if err := validateNamespace("--namespaces", namespace); err != nil {
			return err
		}
	}
	if o.leafDuration < certs.MinLeafDuration {
		return fmt.Errorf("--webhook-leaf-duration: must be at least %s, not %s", certs.MinLeafDuration, o.leafDuration)
	}
	if least := max(certs.MinCADuration, 3*o.leafDuration); o.caDuration < least {
		return fmt.Errorf("--webhook-ca-duration: must be at least %s, not %s: three times --webhook-leaf-duration, and no less than %s", least, o.caDuration, certs.MinCADuration)
	}
	if o.workers < 1 {
		return fmt.Errorf("--workers: must be at least 1, not %d", o.workers)
	}
	if o.logFormat != "json" && o.logFormat != "text" {
		return fmt.Errorf("--log-format: must be json or text, not %q", o.logFormat)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return fmt.Errorf("--log-level: must be debug, info, warn or error, not %q", o.logLevel)
	}
	own := o.ownNamespace()
	if own == "" {
		return fmt.Errorf("--namespace: required outside a pod: the namespace of the manager's Lease and Secret")
	}
	return validateNamespace("--namespace", own)
}

func validateNamespace(flag, name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return fmt.Errorf("%s: %q is not a valid namespace name: %s", flag, name, strings.Join(problems, "; "))
	}
	return nil
}

// ownNamespace is the namespace of the manager's own objects.
func (o *options) ownNamespace() string {
	if o.namespace != "" {
		return o.namespace
	}
	const mounted = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
	content, err := os.ReadFile(mounted)
	if err != nil {
		return "" // outside a pod; validate reports it
	}
	return strings.TrimSpace(string(content))
}

func (o *options) dnsNames() []string {
	if len(o.webhookNames) > 0 {
		return o.webhookNames
	}
	service := o.webhookService + "." + o.ownNamespace() + ".svc"
	names := []string{service, service + ".cluster.local"}
	if ip := net.ParseIP(o.webhookHost); ip != nil && !ip.IsUnspecified() {
		names = append(names, o.webhookHost)
	}
	return names
}

func (o *options) logger() logr.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(o.logLevel)) // validated
	handler := slog.Handler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	if o.logFormat == "text" {
		handler = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})
	}
	return logr.FromSlogHandler(handler)
}
