// Package installation holds the shipped manifests to what they promise: the API server takes the pods,
// and the manager does all that its roles allow it and tries nothing else.
package installation

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// patience is how long a test waits for what should happen at once; only a failing test takes it.
const patience = 90 * time.Second

// site is a cluster with one installation of Kyklos.
type site struct {
	*testing.T
	cluster *harness.Cluster
	admin   client.Client
	port    int
	log     harness.Log
	// certs is the folder of a certificate that install has the API server trust.
	certs string
}

// newSite starts a cluster that keeps an audit log. It has the kinds of cert-manager, and nobody who acts
// on them: see certs.
func newSite(t *testing.T, args ...string) *site {
	t.Helper()
	s := &site{T: t, cluster: harness.StartFor(t, append(args, harness.AuditLog)...)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the managers logged:\n%s", s.log.String())
		}
	})
	s.must(s.cluster.InstallCertManager(t.Context()))
	var err error
	s.port, err = harness.FreePort()
	s.must(err)
	s.admin, err = s.cluster.Client()
	s.must(err)
	return s
}

// install applies what is in a folder of config.
func (s *site) install(folder string) {
	s.Helper()
	root, err := harness.Root()
	s.must(err)
	s.must(s.cluster.InstallFrom(s.Context(), filepath.Join(root, "config", folder), s.port, s.trust))
}

// trust makes what calls the webhooks trust the certificate in certs, as cert-manager does.
func (s *site) trust(object *unstructured.Unstructured) error {
	if s.certs == "" {
		s.certs = s.TempDir()
		certificate, key, err := cert.GenerateSelfSignedCertKey("kyklos-webhook.kyklos-system.svc", nil, []string{"kyklos-webhook.kyklos-system.svc.cluster.local"})
		s.must(err)
		s.must(os.WriteFile(filepath.Join(s.certs, "tls.crt"), certificate, 0o600))
		s.must(os.WriteFile(filepath.Join(s.certs, "tls.key"), key, 0o600))
	}
	bundle, err := os.ReadFile(filepath.Join(s.certs, "tls.crt"))
	s.must(err)
	encoded := base64.StdEncoding.EncodeToString(bundle)
	if _, converts, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook"); converts {
		return unstructured.SetNestedField(object.Object, encoded, "spec", "conversion", "webhook", "clientConfig", "caBundle")
	}
	return harness.EachWebhook(object, func(webhook map[string]any) error {
		return unstructured.SetNestedField(webhook, encoded, "clientConfig", "caBundle")
	})
}

// args are those of the Deployment in a folder of config, with the certificate at its place here.
func (s *site) args(folder string) []string {
	s.Helper()
	var deployment appsv1.Deployment
	s.must(yaml.Unmarshal([]byte(s.document(folder, "Deployment")), &deployment))
	args := deployment.Spec.Template.Spec.Containers[0].Args
	for i, arg := range args {
		if strings.HasPrefix(arg, "--webhook-cert-dir=") {
			args[i] = "--webhook-cert-dir=" + s.certs
		}
	}
	return args[1:]
}

// manager starts a manager and waits until it is ready.
func (s *site) manager(options harness.ManagerOptions) *harness.Manager {
	s.Helper()
	options.WebhookPort, options.Log = s.port, &s.log
	options.Args = append([]string{"--requeue-jitter-max=0", "--log-format=text", "--storage-migration-delay=0"}, options.Args...)
	m, err := s.cluster.StartManager(s.Context(), options)
	s.must(err)
	s.Cleanup(func() { _ = m.Kill() })
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.must(m.AwaitReady(ctx))
	return m
}

// kubectl runs kubectl as the admin.
func (s *site) kubectl(stdin string, args ...string) (stdout, stderr string) {
	s.Helper()
	stdout, stderr, err := s.cluster.Kubectl(s.Context(), stdin, args...)
	s.must(err)
	return stdout, stderr
}

// awaits waits until an object has the value at the path.
func (s *site) awaits(namespace, object, path, value string) {
	s.Helper()
	s.kubectl("", "wait", "-n", namespace, object, "--for=jsonpath="+path+"="+value, "--timeout="+patience.String())
}

// reads waits until kubectl get prints what is wanted of an object.
func (s *site) reads(want string, args ...string) {
	s.Helper()
	got := ""
	s.eventually(fmt.Sprintf("%v say %q", args, want), func() bool {
		got, _, _ = s.cluster.Kubectl(s.Context(), "", append([]string{"get"}, args...)...)
		return got == want
	}, func() { s.Logf("it says %q", got) })
}

// eventually gives up after patience, and then calls those of otherwise.
func (s *site) eventually(what string, done func() bool, otherwise ...func()) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 500*time.Millisecond, patience, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		for _, say := range otherwise {
			say()
		}
		s.Fatalf("never saw %s", what)
	}
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}
