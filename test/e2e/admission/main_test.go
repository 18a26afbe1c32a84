// Package admission tests what the admission webhooks tell whom, and whose schedules they accept: with API servers that
// present a client certificate, with users of few rights, and with requests that no API server sent.
package admission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

var (
	cluster *harness.Cluster
	// guarded is the port of the manager that the API server calls. It wants a client certificate.
	guarded int
	// open is the port of another manager, as it is installed by default.
	open int
	// pki has the CA of the API server's client certificate, and others has no certificate that is accepted.
	pki, others *authority
)

// apiServerName is the common name in the API server's client certificate.
const apiServerName = "kube-apiserver-kyklos"

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	log := &harness.Log{}
	s.ShowOnFailure(log)
	if pki, err = newAuthority(); err != nil {
		return err
	}
	if others, err = newAuthority(); err != nil {
		return err
	}
	if guarded, err = harness.FreePort(); err != nil {
		return err
	}
	if open, err = harness.FreePort(); err != nil {
		return err
	}
	configuration, err := writeConfiguration(s.Dir)
	if err != nil {
		return err
	}
	cluster, err = s.Start(ctx, "--kubelet=false", harness.AuditLog, "--apiserver-arg=--admission-control-config-file="+configuration)
	if err != nil {
		return err
	}
	s.AtEnd(cluster.NothingForbidden)
	if err := cluster.Install(ctx, guarded); err != nil {
		return err
	}
	common := []string{"--leader-elect=false", "--log-format=text"}
	for port, args := range map[int][]string{
		guarded: {"--webhook-client-ca-file=" + filepath.Join(s.Dir, "ca.crt"), "--webhook-client-names=another," + apiServerName},
		open:    {"--namespaces=kube-system,default", "--check-requester=false"},
	} {
		manager, err := cluster.StartManager(ctx, harness.ManagerOptions{WebhookPort: port, Args: append(common, args...), Log: log})
		if err != nil {
			return err
		}
		s.AtEnd(manager.Stop)
		if err := manager.AwaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeConfiguration writes what makes the API server present a client certificate to the webhooks' Service.
func writeConfiguration(dir string) (path string, err error) {
	cert, key, err := pki.client(apiServerName)
	path = filepath.Join(dir, "admission.yaml")
	kubeconfig := filepath.Join(dir, "webhooks.kubeconfig")
	write := func(name, content string) { err = errors.Join(err, os.WriteFile(name, []byte(content), 0o600)) }
	write(filepath.Join(dir, "ca.crt"), string(pki.pem))
	write(filepath.Join(dir, "client.crt"), string(cert))
	write(filepath.Join(dir, "client.key"), string(key))
	write(kubeconfig, fmt.Sprintf("apiVersion: v1\nkind: Config\nusers:\n- name: kyklos-webhook.kyklos-system.svc:%d\n  user: {client-certificate: %[2]s/client.crt, client-key: %[2]s/client.key}\n", guarded, dir))
	content := "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	for _, plugin := range []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"} {
		content += fmt.Sprintf("- name: %s\n  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: %s}\n", plugin, kubeconfig)
	}
	write(path, content)
	return path, err
}

// scenario is one test's namespace.
type scenario struct {
	*harness.T
	namespace string
}

func newScenario(t *testing.T) *scenario {
	s := &scenario{T: harness.NewT(t, cluster)}
	s.namespace = s.NewNamespace("admission-")
	return s
}

// as is a client of a user who has no rights but those of its role bindings.
func (s *scenario) as(user string) client.Client {
	s.Helper()
	config := rest.CopyConfig(s.Cluster.Config)
	config.WarningHandler = rest.NoWarnings{}
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: s.Client.Scheme()})
	s.Must(err)
	return c
}

// grant gives a user a role in the namespace: verbs on a resource, as kubectl create role takes them.
func (s *scenario) grant(user, verbs, resource string) {
	s.Helper()
	name := "role-" + rand.String(8)
	s.Kubectl("", "create", "role", name, "-n", s.namespace, "--verb="+verbs, "--resource="+resource)
	s.Kubectl("", "create", "rolebinding", name, "-n", s.namespace, "--role="+name, "--user="+user)
}
