package behaviour_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestReadyMeansUsable(t *testing.T) {
	c, _ := everyones(t)
	if want := "devcluster is ready: KUBECONFIG=" + filepath.Join(c.dir, "kubeconfig") + "\n"; c.line != want {
		t.Errorf("ready line is %q, want %q", c.line, want)
	}
	info, err := os.Stat(c.kubeconfig)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig mode %v, %v; want 0600", info.Mode(), err)
	}
	version, err := c.client.ServerVersion()
	if err != nil || version.GitVersion != "v1.37.2" {
		t.Errorf("server version %v, %v", version, err)
	}
}

// A token for a ServiceAccount carries exactly what its Role grants: this is how a manager will run.
func TestTokenIsHeldToItsRole(t *testing.T) {
	c, ns := everyones(t)
	rbac := c.client.RbacV1()
	if _, err := rbac.Roles(ns).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings(ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "default"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = strings.TrimSpace(c.kubectl(t, "-n", ns, "create", "token", "default"))
	reader := kubernetes.NewForConfigOrDie(config)
	eventually(t, "granted request", func(ctx context.Context) error { // RBAC reads its rules from a cache
		_, err := reader.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{})
		return err
	})
	if _, err := reader.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing Secrets: %v, want Forbidden", err)
	}
	config.BearerToken += "x"
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("a broken token: %v, want Unauthorized", err)
	}
}

// schedules is a CRD whose zone is checked by CEL, as in Kyklos's API.
const schedules = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: schedules.test.kyklos.io}
spec:
  group: test.kyklos.io
  scope: Namespaced
  names: {plural: schedules, singular: schedule, kind: Schedule, listKind: ScheduleList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          zone:
            type: string
            maxLength: 64
            x-kubernetes-validations:
            - rule: timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0
`

// The zones come from the binary: the host's own files are hidden from it.
func TestCELKnowsTimeZones(t *testing.T) {
	c, ns := withoutZoneFiles(t), "default"
	apply(t, c, schedules)
	c.kubectl(t, "wait", "--for=condition=Established", "crd/schedules.test.kyklos.io", "--timeout=5m")
	create := func(name, zone string) error {
		body := fmt.Sprintf(`{"apiVersion":"test.kyklos.io/v1","kind":"Schedule","metadata":{"name":%q},"zone":%q}`, name, zone)
		return c.client.RESTClient().Post().AbsPath("/apis/test.kyklos.io/v1/namespaces/"+ns+"/schedules").
			SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(t.Context()).Error()
	}
	if err := create("earth", "America/New_York"); err != nil {
		t.Errorf("America/New_York: %v", err)
	}
	err := create("mars", "Mars/Olympus_Mons")
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "unknown time zone Mars/Olympus_Mons") {
		t.Errorf("Mars/Olympus_Mons: %v, want Invalid with unknown time zone", err)
	}
}

// Tests count requests by user agent, so their requests must be in the log, distinct from the components'.
func TestAuditLogNamesUsersAndAgents(t *testing.T) {
	c, ns := everyones(t)
	if _, err := c.client.CoreV1().ConfigMaps(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "audited"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "audit log", func(context.Context) error {
		data, err := os.ReadFile(filepath.Join(c.dir, "audit.log"))
		if err != nil {
			return err
		}
		mine, controllers := 0, 0
		for line := range strings.Lines(string(data)) {
			var event struct {
				Stage, UserAgent, RequestURI string
				User                         struct{ Username string }
			}
			if json.Unmarshal([]byte(line), &event) != nil {
				continue // the last line may be half written
			}
			if event.Stage != "ResponseComplete" {
				t.Fatalf("stage %s is logged", event.Stage)
			}
			if event.UserAgent == userAgent && event.User.Username == "admin" && strings.Contains(event.RequestURI, ns+"/configmaps?labelSelector=audited") {
				mine++
			}
			if event.UserAgent == "devcluster/serviceaccount-controller" && event.User.Username == "system:devcluster" {
				controllers++
			}
		}
		if mine != 1 || controllers == 0 {
			return fmt.Errorf("%d lines of this test's one request, %d of the ServiceAccount controller", mine, controllers)
		}
		return nil
	})
}

// A webhook on loopback is registered by URL; it must be called and its verdict must count.
func TestWebhookByURLDecides(t *testing.T) {
	c, ns := everyones(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no AdmissionReview", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "not on a Friday"}}
		_ = json.NewEncoder(w).Encode(review)
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	name := "friday." + ns + ".kyklos.io"
	_, err := c.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), webhook(name, ns, server), metav1.CreateOptions{})
	must(t, err)
	eventually(t, "refusal", func(ctx context.Context) error { // the API server reads webhooks from a cache
		_, err := c.client.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}}, metav1.CreateOptions{})
		if err == nil || !strings.Contains(err.Error(), "not on a Friday") {
			return fmt.Errorf("creating a ConfigMap: %v", err)
		}
		return nil
	})
}

func webhook(name, ns string, server *httptest.Server) *admissionregistrationv1.ValidatingWebhookConfiguration {
	none, url := admissionregistrationv1.SideEffectClassNone, server.URL
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: name, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: ns}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
}
