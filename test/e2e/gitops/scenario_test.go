package gitops

import (
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kyklos.io/kyklos/test/harness"
)

// scenario is a cluster with Argo CD on it, and a manager of Kyklos with a clock that tests set.
type scenario struct {
	*harness.T
	git *repository
	// kyklos is what Git has of Kyklos; see render.
	kyklos      string
	webhookPort int
	clockFile   harness.Clock
	binary      string
	manager     *harness.Manager
}

func newScenario(t *testing.T) *scenario {
	t.Helper()
	w := &scenario{T: harness.NewT(t, harness.StartFor(t)), clockFile: harness.Clock(filepath.Join(t.TempDir(), "clock"))}
	var err error
	w.webhookPort, err = harness.FreePort()
	w.Must(err)
	w.clock("2025-01-27 08:00:00")
	w.build()
	w.startCertManager()
	startArgoCD(w)
	return w
}

// clock sets the manager's clock, in UTC.
func (w *scenario) clock(utc string) {
	w.Helper()
	w.Must(w.clockFile.Set(utc))
}

// in returns the same scenario for a subtest, with a repository of its own.
func (w *scenario) in(t *testing.T) *scenario {
	inner := *w
	shared := *w.T
	shared.TB = t
	inner.T, inner.git = &shared, newRepository(t)
	return &inner
}

// object reads an object of any kind.
func (w *scenario) object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	w.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	w.Get(namespace, name, object)
	return object
}

// reason returns the reason of a condition of a TimeWindowScaler.
func (w *scenario) reason(namespace, name, condition string) string {
	w.Helper()
	conditions, _, _ := unstructured.NestedSlice(w.object("kyklos.io/v1beta1", "TimeWindowScaler", namespace, name).Object, "status", "conditions")
	for _, item := range conditions {
		if item := item.(map[string]any); item["type"] == condition {
			return item["reason"].(string)
		}
	}
	return ""
}

// callers returns the resourceVersions of the objects that hold the CA.
func (w *scenario) callers() map[string]string {
	w.Helper()
	versions := map[string]string{}
	for _, object := range []*unstructured.Unstructured{
		w.object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "timewindowscalers.kyklos.io"),
		w.object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "kyklos-webhook"),
		w.object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "kyklos-webhook"),
	} {
		versions[object.GetKind()] = object.GetResourceVersion()
	}
	return versions
}

// kubectlScale sets a Deployment's replicas as a user does.
func (w *scenario) kubectlScale(namespace, name, replicas string) {
	w.Helper()
	w.Kubectl("", "scale", "--namespace", namespace, "deployment/"+name, "--replicas="+replicas)
}
