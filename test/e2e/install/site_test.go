package install

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// scenario is a cluster and what a test needs to install Kyklos on it.
type scenario struct {
	*harness.T
	root string
	// port is where the webhooks are served.
	port int
	// environment is that of every command: this cluster, and Helm's files apart from the user's.
	environment []string
	// certs is the folder of a certificate that install has the API server trust.
	certs string
	// without Workspaces.
	without bool
}

func newScenario(t *testing.T, args ...string) *scenario {
	t.Helper()
	s := &scenario{T: harness.NewT(t, harness.StartFor(t, args...)), root: harness.RootFor(t)}
	s.Pause = 200 * time.Millisecond
	var err error
	s.port, err = harness.FreePort()
	s.Must(err)
	s.environment = append(helmEnvironment(t, s.Cluster.Kubeconfig), "PATH="+filepath.Join(s.root, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return s
}

// newAuditedScenario starts a cluster that keeps an audit log. It has the kinds of cert-manager without its controllers; see
// scenario.certs.
func newAuditedScenario(t *testing.T, args ...string) *scenario {
	t.Helper()
	t.Parallel()
	s := newScenario(t, append(args, harness.AuditLog)...)
	s.Pause = 500 * time.Millisecond
	s.installCertManager()
	return s
}

// installCertManager installs cert-manager's definitions without its controllers.
func (s *scenario) installCertManager() {
	s.Helper()
	s.Must(s.Cluster.InstallCertManager(s.Context()))
}

// install applies what is in a folder of config.
func (s *scenario) install(folder string) {
	s.Helper()
	s.Must(s.Cluster.InstallFrom(s.Context(), filepath.Join(s.root, "config", folder), s.port, s.trust))
}

// trust adds the certificate in certs to the callers of the webhooks, as cert-manager does.
func (s *scenario) trust(object *unstructured.Unstructured) error {
	if s.certs == "" {
		s.certs = s.TempDir()
		certificate, key, err := cert.GenerateSelfSignedCertKey("kyklos-webhook.kyklos-system.svc", nil, []string{"kyklos-webhook.kyklos-system.svc.cluster.local"})
		s.Must(err)
		s.Must(os.WriteFile(filepath.Join(s.certs, "tls.crt"), certificate, 0o600))
		s.Must(os.WriteFile(filepath.Join(s.certs, "tls.key"), key, 0o600))
	}
	bundle, err := os.ReadFile(filepath.Join(s.certs, "tls.crt"))
	s.Must(err)
	encoded := base64.StdEncoding.EncodeToString(bundle)
	if _, converts, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook"); converts {
		return unstructured.SetNestedField(object.Object, encoded, "spec", "conversion", "webhook", "clientConfig", "caBundle")
	}
	return harness.EachWebhook(object, func(webhook map[string]any) error {
		return unstructured.SetNestedField(webhook, encoded, "clientConfig", "caBundle")
	})
}

// args returns the flags of the Deployment in a folder of config, with the local path of the certificate.
func (s *scenario) args(folder string) []string {
	s.Helper()
	var deployment appsv1.Deployment
	s.Must(yaml.Unmarshal([]byte(s.render(folder, "Deployment")), &deployment))
	args := deployment.Spec.Template.Spec.Containers[0].Args
	for i, arg := range args {
		if strings.HasPrefix(arg, "--webhook-cert-dir=") {
			args[i] = "--webhook-cert-dir=" + s.certs
		}
	}
	return args[1:]
}

// start starts a manager and waits until it is ready.
func (s *scenario) start(options harness.ManagerOptions) *harness.Manager {
	s.Helper()
	options.WebhookPort = s.port
	options.Args = append([]string{"--requeue-jitter-max=0", "--log-format=text", "--storage-migration-delay=0"}, options.Args...)
	m := s.StartManager(options)
	s.AwaitReady(m)
	return m
}

// awaitField waits until an object has the value at the path.
func (s *scenario) awaitField(namespace, object, path, value string) {
	s.Helper()
	s.Kubectl("", "wait", "-n", namespace, object, "--for=jsonpath="+path+"="+value, "--timeout="+harness.Patience.String())
}

// awaitOutput waits until kubectl get prints want.
func (s *scenario) awaitOutput(want string, args ...string) {
	s.Helper()
	s.Eventually(fmt.Sprintf("%q of kubectl get %v", want, args), func() error {
		got, _, err := s.Cluster.Kubectl(s.Context(), "", append([]string{"get"}, args...)...)
		if got != want {
			return errors.Join(fmt.Errorf("got %q", got), err)
		}
		return nil
	})
}
