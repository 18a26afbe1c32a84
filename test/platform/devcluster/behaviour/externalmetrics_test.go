package behaviour_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metrics "k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	"k8s.io/metrics/pkg/client/external_metrics"
)

// write sets the namespace's metrics.
func write(t *testing.T, c *cluster, ns string, data map[string]string) {
	t.Helper()
	maps := c.client.CoreV1().ConfigMaps(ns)
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "external-metrics"}, Data: data}
	_, err := maps.Update(t.Context(), held, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = maps.Create(t.Context(), held, metav1.CreateOptions{})
	}
	must(t, err)
}

// read asks for a metric with the client that the HPA uses too.
func read(t *testing.T, config *rest.Config, ns, name, selector string) (*metrics.ExternalMetricValueList, error) {
	t.Helper()
	client, err := external_metrics.NewForConfig(config)
	must(t, err)
	parsed, err := labels.Parse(selector)
	must(t, err)
	return client.NamespacedMetrics(ns).List(name, parsed)
}

// numbers is what read gives, as written.
func numbers(t *testing.T, c *cluster, ns, name, selector string) []string {
	t.Helper()
	list, err := read(t, c.config, ns, name, selector)
	if err != nil {
		t.Fatalf("%s of %s: %v", name, ns, err)
	}
	got := []string{}
	for _, item := range list.Items {
		got = append(got, item.MetricLabels["queue"]+"="+item.Value.String())
	}
	return got
}

// No eventually here: a value counts from the next request on, and a cluster that says it is ready serves.
func TestExternalMetricsAreServed(t *testing.T) {
	c := own(t, t.TempDir(), "--external-metrics")
	if out := c.kubectl(t, "get", "apiservice", "v1beta1.external.metrics.k8s.io", "--no-headers"); len(strings.Fields(out)) != 4 || strings.Fields(out)[2] != "True" {
		t.Errorf("kubectl get apiservice: %q, want it available", out)
	}
	if got := numbers(t, c, "default", "queue_length", ""); len(got) != 0 {
		t.Errorf("values before any are written: %v", got)
	}
	orders := `[{labels: {queue: orders}, value: "350"}, {labels: {queue: mail}, value: "0.5"}]`
	write(t, c, "default", map[string]string{"queue_length": orders, "other": "error: the queue is on fire"})
	for selector, want := range map[string][]string{
		"": {"orders=350", "mail=500m"}, "queue=mail": {"mail=500m"}, "queue in (a,b)": {}, "queue!=mail": {"orders=350"},
	} {
		if diff := cmp.Diff(want, numbers(t, c, "default", "queue_length", selector)); diff != "" {
			t.Errorf("selector %q (-want +got)\n%s", selector, diff)
		}
	}
	if got := numbers(t, c, "kube-system", "queue_length", ""); len(got) != 0 {
		t.Errorf("another namespace has the values %v", got)
	}
	_, err := read(t, c.config, "default", "other", "")
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "the queue is on fire") {
		t.Errorf("a metric that fails: %v, want the written text in an InternalError", err)
	}
	for i := range 20 {
		write(t, c, "default", map[string]string{"queue_length": fmt.Sprintf("[{value: %d}]", i)})
		if diff := cmp.Diff([]string{fmt.Sprintf("=%d", i)}, numbers(t, c, "default", "queue_length", "")); diff != "" {
			t.Fatalf("the request after a change (-want +got)\n%s", diff)
		}
	}
	var list metav1.APIResourceList
	raw := c.kubectl(t, "get", "--raw", "/apis/external.metrics.k8s.io/v1beta1")
	if err := json.Unmarshal([]byte(raw), &list); err != nil || len(list.APIResources) != 1 || list.APIResources[0].Name != "queue_length" {
		t.Errorf("discovery: %v, %s", err, raw)
	}
	deletesNamespaces(t, c)
}

// deletesNamespaces finds out whether the service disturbs discovery, on which a namespace's end depends.
func deletesNamespaces(t *testing.T, c *cluster) {
	t.Helper()
	namespaces := c.client.CoreV1().Namespaces()
	if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "short-lived"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	write(t, c, "short-lived", map[string]string{"queue_length": "[{value: 1}]"})
	must(t, namespaces.Delete(t.Context(), "short-lived", metav1.DeleteOptions{}))
	eventually(t, "namespace gone", func(ctx context.Context) error {
		ns, err := namespaces.Get(ctx, "short-lived", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("namespace is still there: %v, %+v", err, ns.Status)
	})
}

// RBAC decides which users may read a metric, and the service trusts no name that comes past the aggregator.
func TestExternalMetricsAreGuarded(t *testing.T) {
	c := own(t, t.TempDir(), "--external-metrics")
	write(t, c, "default", map[string]string{"queue_length": "[{value: 7}]", "secret_length": "[{value: 8}]"})
	rbac := c.client.RbacV1()
	if _, err := rbac.Roles("default").Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"external.metrics.k8s.io"}, Resources: []string{"queue_length"}, Verbs: []string{"list"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "metrics"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "default"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = strings.TrimSpace(c.kubectl(t, "-n", "default", "create", "token", "default"))
	eventually(t, "granted metric", func(context.Context) error { // RBAC reads its rules from a cache
		list, err := read(t, config, "default", "queue_length", "")
		if err == nil && len(list.Items) != 1 {
			t.Fatalf("items are %+v", list.Items)
		}
		return err
	})
	if _, err := read(t, config, "default", "secret_length", ""); !apierrors.IsForbidden(err) {
		t.Errorf("another metric: %v, want Forbidden", err)
	}
	direct := rest.AnonymousClientConfig(config)
	direct.Host = "https://127.0.0.1:" + c.kubectl(t, "get", "apiservice", "v1beta1.external.metrics.k8s.io", "-o", "jsonpath={.spec.service.port}")
	direct.ServerName = "external-metrics.kube-system.svc"
	request := func() *rest.Request {
		return kubernetes.NewForConfigOrDie(direct).RESTClient().Get().
			AbsPath("/apis/external.metrics.k8s.io/v1beta1/namespaces/default/secret_length")
	}
	if err := request().SetHeader("X-Remote-User", "admin").SetHeader("X-Remote-Group", "system:masters").Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
		t.Errorf("an anonymous request with a borrowed name: %v, want Forbidden", err)
	}
	direct.BearerToken = c.config.BearerToken
	if err := request().Do(t.Context()).Error(); err != nil {
		t.Errorf("the admin's token, past the aggregator: %v", err)
	}
}

// A folder may be started with the service and without it in turn, also after a crash, and by a devcluster
// that needs a certificate of which an older one did not know.
func TestExternalMetricsSwitchedOffAndOn(t *testing.T) {
	dir := t.TempDir()
	first := own(t, dir, "--external-metrics")
	write(t, first, "default", map[string]string{"queue_length": "[{value: 7}]"})
	if err := first.stop(syscall.SIGTERM); err != nil {
		t.Fatalf("stopping: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, "pki", "external-metrics.crt")))
	second := own(t, dir, "--external-metrics")
	if diff := cmp.Diff([]string{"=7"}, numbers(t, second, "default", "queue_length", "")); diff != "" {
		t.Errorf("after a restart (-want +got)\n%s", diff)
	}
	_ = second.stop(syscall.SIGKILL) // reports the kill itself
	without := own(t, dir)
	if _, err := read(t, without.config, "default", "queue_length", ""); !apierrors.IsNotFound(err) {
		t.Errorf("without the service: %v, want NotFound", err)
	}
	if out := without.kubectl(t, "api-versions"); strings.Contains(out, "external.metrics") {
		t.Errorf("API versions without the service: %s", out)
	}
}
