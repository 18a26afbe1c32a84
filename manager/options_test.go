package manager

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"kyklos.io/kyklos/certs"
	"kyklos.io/kyklos/controller/timewindowscaler"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
)

// parse reads a command line as the manager does, in a given namespace.
func parse(t *testing.T, args ...string) options {
	t.Helper()
	options := defaultOptions()
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.addFlags(flags)
	if err := flags.Parse(append([]string{"--namespace=kyklos-system"}, args...)); err != nil {
		t.Fatal(err)
	}
	return options
}

// T6: all five numbers are flags, and their defaults are DefaultRequeue.
func TestRequeueFlags(t *testing.T) {
	if got := parse(t).requeue; got != timewindowscaler.DefaultRequeue {
		t.Errorf("defaults %+v, want %+v", got, timewindowscaler.DefaultRequeue)
	}
	got := parse(t, "--requeue-jitter-min=1s", "--requeue-jitter-max=2s", "--requeue-quantum=3s", "--requeue-min=4s", "--requeue-max=5h").requeue
	want := timewindowscaler.Requeue{JitterMin: time.Second, JitterMax: 2 * time.Second, Quantum: 3 * time.Second, Min: 4 * time.Second, Max: 5 * time.Hour}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The defaults are kube-controller-manager's for a HorizontalPodAutoscaler.
func TestMetricFlags(t *testing.T) {
	if got, want := parse(t).metrics, (extmetric.Options{Interval: 15 * time.Second, Tolerance: 0.1}); got != want {
		t.Errorf("defaults %+v, want %+v", got, want)
	}
	got := parse(t, "--metric-interval=1m", "--metric-tolerance=0.25").metrics
	if want := (extmetric.Options{Interval: time.Minute, Tolerance: 0.25}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestValidate(t *testing.T) {
	for args, says := range map[string]string{
		"":                                                    "",
		"--requeue-jitter-max=0":                              "",
		"--log-format=text":                                   "",
		"--log-level=debug":                                   "",
		"--namespaces=shop,lab":                               "",
		"--requeue-max=1s":                                    "--requeue-max: must be above 0 and not below --requeue-min 30s, but is 1s",
		"--requeue-jitter-max=1s":                             "--requeue-jitter-min: must not exceed --requeue-jitter-max 1s, but is 5s",
		"--requeue-quantum=-1s":                               "--requeue-quantum: must be 0 or more, not -1s",
		"--storage-migration-qps=1":                           "",
		"--storage-migration-delay=0":                         "",
		"--storage-migration-delay=1h":                        "",
		"--storage-migration-qps=0":                           "--storage-migration-qps: must be from 1 to 1000, not 0",
		"--storage-migration-qps=1001":                        "--storage-migration-qps: must be from 1 to 1000, not 1001",
		"--storage-migration-delay=-1s":                       "--storage-migration-delay: must be from 0s to 1h0m0s, not -1s",
		"--storage-migration-delay=2h":                        "--storage-migration-delay: must be from 0s to 1h0m0s, not 2h0m0s",
		"--webhook-leaf-duration=6s":                          "",
		"--webhook-leaf-duration=0":                           "--webhook-leaf-duration: must be at least 6s, not 0s",
		"--webhook-ca-duration=504h":                          "",
		"--webhook-ca-duration=503h":                          "--webhook-ca-duration: must be at least 504h0m0s, not 503h0m0s: three times",
		"--archive-gc-interval=30s":                           "--archive-gc-interval: must be from 1m0s to 24h0m0s, not 30s",
		"--webhook-client-names=a":                            "--webhook-client-ca-file and --webhook-client-names: need each other",
		"--webhook-client-ca-file=a":                          "--webhook-client-ca-file and --webhook-client-names: need each other",
		"--webhook-client-ca-file=a --webhook-client-names=b": "",
		"--workers=0":                                         "--workers: must be at least 1, not 0",
		"--log-format=xml":                                    `--log-format: must be json or text, not "xml"`,
		"--log-level=loud":                                    `--log-level: must be debug, info, warn or error, not "loud"`,
		"--namespaces=shop,La_b":                              `--namespaces: "La_b" is not a valid namespace name: `,
		"--namespace=kyklos_system":                           `--namespace: "kyklos_system" is not a valid namespace name: `,
		"--on-fight=backoff":                                  "",
		"--on-fight=enforce":                                  "",
		"--on-fight=ignore":                                   `--on-fight: must be backoff or enforce, not "ignore"`,
		"--metric-interval=1s":                                "",
		"--metric-interval=1h":                                "",
		"--metric-tolerance=0":                                "",
		"--metric-interval=999ms":                             "--metric-interval: must be from 1s to 1h, not 999ms",
		"--metric-interval=61m":                               "--metric-interval: must be from 1s to 1h, not 1h1m0s",
		"--metric-tolerance=1":                                "--metric-tolerance: must be from 0 to below 1, not 1",
		"--metric-tolerance=-0.1":                             "--metric-tolerance: must be from 0 to below 1, not -0.1",
		"--metric-tolerance=NaN":                              "--metric-tolerance: must be from 0 to below 1, not NaN",
	} {
		options := parse(t, strings.Fields(args)...)
		err := options.validate()
		if (err == nil) != (says == "") || err != nil && !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v, want %q", args, err, says)
		}
	}
}

// The names in the certificate are those by which the API server calls.
func TestDNSNames(t *testing.T) {
	const service, full = "kyklos-webhook.kyklos-system.svc", "kyklos-webhook.kyklos-system.svc.cluster.local"
	for args, want := range map[string][]string{
		"":                          {service, full},
		"--webhook-service=other":   {"other.kyklos-system.svc", "other.kyklos-system.svc.cluster.local"},
		"--webhook-host=127.0.0.1":  {service, full, "127.0.0.1"},
		"--webhook-host=0.0.0.0":    {service, full},
		"--webhook-host=localhost":  {service, full},
		"--webhook-names=a.b,::1":   {"a.b", "::1"},
		"--webhook-names=localhost": {"localhost"},
	} {
		options := parse(t, strings.Fields(args)...)
		if diff := cmp.Diff(want, options.dnsNames()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", args, diff)
		}
	}
}

func TestLogLevel(t *testing.T) {
	for level, debug := range map[string]bool{"debug": true, "info": false, "error": false} {
		options := parse(t, "--log-level="+level)
		logger := options.logger()
		if got := logger.V(4).Enabled(); got != debug {
			t.Errorf("%s: debug messages %v", level, got)
		}
		if got := logger.Enabled(); got != (level != "error") {
			t.Errorf("%s: info messages %v", level, got)
		}
	}
}

func TestStorageMigrationFlag(t *testing.T) {
	if byDefault, off := parse(t), parse(t, "--storage-migration=false"); !byDefault.migrate || off.migrate {
		t.Errorf("by default %t, switched off %t", byDefault.migrate, off.migrate)
	}
}

func TestMetricsServer(t *testing.T) {
	secure, plain := parse(t), parse(t, "--metrics-secure=false", "--metrics-bind-address=:8080")
	if got := secure.metricsServer(nil); !got.SecureServing || got.FilterProvider == nil || got.BindAddress != ":8443" {
		t.Errorf("by default: %+v", got)
	}
	if got := plain.metricsServer(nil); got.SecureServing || got.FilterProvider != nil || got.BindAddress != ":8080" {
		t.Errorf("plain: %+v", got)
	}
	verifiable := secure.metricsServer(&certs.SelfManaged{})
	if len(verifiable.TLSOpts) != 1 || len(secure.metricsServer(nil).TLSOpts) != 0 {
		t.Error("with webhooks the metrics have their certificate, without them none that could be had")
	}
}
