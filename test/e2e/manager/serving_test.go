package manager

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// A manager for some namespaces ignores the others.
func TestNamespaces(t *testing.T) {
	served, other := newScenario(t), newScenario(t)
	other.Clock = served.Clock
	served.SetClock("2025-01-27 10:00:00")
	other.CreatePair("web", 2, "09:00", "17:00")
	served.CreatePair("web", 2, "09:00", "17:00")
	m := served.Start(nil, "--leader-elect=false", "--namespaces="+served.Namespace)
	served.AwaitReady(m)
	served.AwaitSettled(1, 2)
	served.Until("the queue empty", func() bool { return served.Sum(m, "workqueue_depth") == 0 })
	if status := other.Settled(0) + other.Settled(2); status != 0 {
		t.Error("the scaler of another namespace has a status")
	}
}

// A stopped leader releases its Lease, so that the next one need not wait until it expires.
func TestLeaseIsReleased(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 10:00:00")
	s.CreatePair("web", 2, "09:00", "17:00")
	m := s.Start(nil)
	s.AwaitReady(m)
	s.AwaitSettled(1, 2)
	holder := func() string {
		lease := &coordinationv1.Lease{}
		s.Must(s.Client.Get(s.Context(), client.ObjectKey{Namespace: harness.SystemNamespace, Name: "kyklos-manager"}, lease))
		return ptr.Deref(lease.Spec.HolderIdentity, "")
	}
	if holder() == "" {
		t.Error("got no leader")
	}
	s.Must(m.Stop())
	if name := holder(); name != "" {
		t.Errorf("got the leader %s, want none", name)
	}
}

// Metrics need the permission to get /metrics: the shipped role kyklos-metrics-reader.
func TestMetricsAreGuarded(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 10:00:00")
	port, err := harness.FreePort()
	s.Must(err)
	m := s.Start(nil, "--leader-elect=false", "--metrics-secure=true", fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", port))
	s.AwaitReady(m)
	url := fmt.Sprintf("https://127.0.0.1:%d/metrics", port)

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "prometheus"}}
	s.Must(s.Client.Create(s.Context(), account))
	token := &authenticationv1.TokenRequest{}
	s.Must(s.Client.SubResource("token").Create(s.Context(), account, token))

	if status, _ := s.scrape(url, ""); status != http.StatusUnauthorized {
		t.Errorf("without a token: got %d, want 401", status)
	}
	if status, _ := s.scrape(url, token.Status.Token); status != http.StatusForbidden {
		t.Errorf("without the role: got %d, want 403", status)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "prometheus-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "kyklos-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.Namespace, Name: account.Name}},
	}
	s.Must(s.Client.Create(s.Context(), binding))
	s.Cleanup(func() { _ = s.Client.Delete(context.Background(), binding) })
	s.Until("the metrics", func() bool {
		status, body := s.scrape(url, token.Status.Token)
		return status == http.StatusOK && strings.Contains(body, "kyklos_tzdata_info")
	})
}

func (s *scenario) scrape(url, token string) (status int, body string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, url, nil)
	s.Must(err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// As in the ServiceMonitor: the certificate is that of the webhooks, and its CA is in the Secret.
	secret := &corev1.Secret{}
	s.Must(s.Client.Get(s.Context(), client.ObjectKey{Namespace: harness.SystemNamespace, Name: "kyklos-webhook-ca"}, secret))
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(secret.Data[corev1.TLSCertKey]) {
		s.Fatalf("no CA in %v", secret.Data)
	}
	verifying := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	response, err := verifying.Do(request)
	s.Must(err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	s.Must(err)
	return response.StatusCode, string(content)
}

// Without a certificate the webhooks are not ready and report why, and scaling works. The certificate is served as soon
// as its files exist. Without configured callers, no caller is read.
func TestScalesWithoutACertificate(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2025-01-27 10:00:00")
	s.CreatePair("web", 2, "09:00", "17:00")
	dir := t.TempDir()
	m := s.Start(nil, "--leader-elect=false", "--webhook-cert-dir="+dir,
		"--validating-webhook-configuration=", "--mutating-webhook-configuration=", "--conversion-definition=")
	s.AwaitSettled(1, 2)
	status, text := s.scrape(m.HealthURL+"/readyz/certificate", "")
	want := "internal server error: the folder " + dir + " is empty: the Secret mounted there needs the keys tls.crt and tls.key\n"
	if status != http.StatusInternalServerError || text != want {
		t.Errorf("got %d %swant 500 %s", status, text, want)
	}
	if got := s.Sum(m, "kyklos_webhook_certificate_files_bad"); got != 1 {
		t.Errorf("the metric of bad files: got %v, want 1", got)
	}

	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	s.Must(err)
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		s.Must(os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	s.AwaitReady(m)
	if got := s.Sum(m, "kyklos_webhook_certificate_files_bad"); got != 0 {
		t.Errorf("the metric of bad files: got %v, want 0", got)
	}
}
