package cluster

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// auditPolicy logs each request once, when it is answered, without bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
`

// apiServer returns the function that runs kube-apiserver on the listener until its context ends. The
// server is built from its options, not from NewAPIServerCommand: that one installs its own signal handler
// and would stop before the controllers do.
func apiServer(ctx context.Context, dir *Dir, opts Options, listener net.Listener, etcdURL string) (func(context.Context) error, error) {
	args, err := apiServerArgs(dir, opts, etcdURL)
	if err != nil {
		return nil, err
	}
	server := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range server.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("reading the kube-apiserver flags (see --apiserver-arg): %w", err)
	}
	server.SecureServing.Listener = listener
	if err := server.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("setting feature gates: %w", err)
	}
	if err := logsapi.ValidateAndApply(server.Logs, utilfeature.DefaultFeatureGate); err != nil {
		return nil, fmt.Errorf("setting up logs: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := server.Complete(ctx)
	if err != nil {
		return nil, fmt.Errorf("completing the kube-apiserver options: %w", err)
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return nil, fmt.Errorf("checking the kube-apiserver options: %w", utilerrors.NewAggregate(errs))
	}
	return func(ctx context.Context) error { return app.Run(ctx, completed) }, nil
}

func apiServerArgs(dir *Dir, opts Options, etcdURL string) ([]string, error) {
	args := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--tls-cert-file=" + dir.Path("pki", "apiserver.crt"),
		"--tls-private-key-file=" + dir.Path("pki", "apiserver.key"),
		"--token-auth-file=" + dir.Path("pki", "tokens.csv"),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + dir.Path("pki", "sa.key"),
		"--service-account-signing-key-file=" + dir.Path("pki", "sa.key"),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--endpoint-reconciler-type=none",
		"--allow-privileged",
	}
	if opts.AuditLog {
		policy := dir.Path("audit-policy.yaml")
		if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
			return nil, fmt.Errorf("writing the audit policy: %w", err)
		}
		// The size is in megabytes and never reached: a rotated log could not be counted in one pass.
		args = append(args, "--audit-policy-file="+policy, "--audit-log-path="+dir.Path("audit.log"), "--audit-log-maxsize=1000000")
	}
	if opts.ExternalMetrics {
		args = append(args, aggregatorArgs(dir)...)
	}
	if opts.Kubelet {
		args = append(args, kubeletArgs(dir)...)
	}
	return append(args, opts.APIServerArgs...), nil
}

// kubeletArgs let the API server ask the node for logs: it proves itself with a client certificate. The node's
// name does not resolve to a host.
func kubeletArgs(dir *Dir) []string {
	return []string{
		"--kubelet-certificate-authority=" + dir.Path("pki", "ca.crt"),
		"--kubelet-client-certificate=" + dir.Path("pki", "kubelet-client.crt"),
		"--kubelet-client-key=" + dir.Path("pki", "kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
	}
}

// aggregatorArgs let the API server pass requests on to an API service: it proves itself with a client
// certificate, and names the user in headers that the service trusts from that certificate alone.
func aggregatorArgs(dir *Dir) []string {
	return []string{
		"--proxy-client-cert-file=" + dir.Path("pki", "aggregator.crt"),
		"--proxy-client-key-file=" + dir.Path("pki", "aggregator.key"),
		"--requestheader-client-ca-file=" + dir.Path("pki", "ca.crt"),
		"--requestheader-allowed-names=" + aggregatorUser,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
	}
}
