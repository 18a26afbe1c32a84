package gitops

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// world is a cluster with Argo CD on it, and a manager of Kyklos with a clock that tests set.
type world struct {
	*testing.T
	cluster *harness.Cluster
	admin   client.WithWatch
	git     *repository
	// kyklos is what Git has of Kyklos; see render.
	kyklos      string
	webhookPort int
	clockFile   harness.Clock
	binary      string
	manager     *harness.Manager
}

func newWorld(t *testing.T) *world {
	t.Helper()
	cluster := harness.StartFor(t)
	w := &world{T: t, cluster: cluster, clockFile: harness.Clock(filepath.Join(t.TempDir(), "clock"))}
	var err error
	w.admin, err = client.NewWithWatch(cluster.Config, client.Options{})
	w.must(err)
	w.webhookPort, err = harness.FreePort()
	w.must(err)
	w.clock("2025-01-27 08:00:00")
	w.build()
	w.startCertManager()
	startArgoCD(t, cluster)
	return w
}

// clock sets the manager's clock, in UTC.
func (w *world) clock(utc string) {
	w.Helper()
	w.must(w.clockFile.Set(utc))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// in is the same world for a subtest, with a repository of its own.
func (w *world) in(t *testing.T) *world {
	inner := *w
	inner.T, inner.git = t, newRepository(t)
	return &inner
}

// eventually waits until nothing is missing any more.
func (w *world) eventually(what string, missing func() string) {
	w.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = missing()
		return last == "", nil
	})
	if err != nil {
		w.Fatalf("waited for %s: %s", what, last)
	}
}

// get reads an object of any kind.
func (w *world) get(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	w.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	w.must(w.admin.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object))
	return object
}

// reason returns the reason of a condition of a TimeWindowScaler.
func (w *world) reason(namespace, name, condition string) string {
	w.Helper()
	conditions, _, _ := unstructured.NestedSlice(w.get("kyklos.io/v1beta1", "TimeWindowScaler", namespace, name).Object, "status", "conditions")
	for _, item := range conditions {
		if item := item.(map[string]any); item["type"] == condition {
			return item["reason"].(string)
		}
	}
	return ""
}

// callers are the objects into which the CA is written, as they are now.
func (w *world) callers() map[string]string {
	w.Helper()
	versions := map[string]string{}
	for _, object := range []*unstructured.Unstructured{
		w.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "timewindowscalers.kyklos.io"),
		w.get("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", "kyklos-webhook"),
		w.get("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "kyklos-webhook"),
	} {
		versions[object.GetKind()] = object.GetResourceVersion()
	}
	return versions
}

// kubectlScale sets a Deployment's replicas as a person does.
func (w *world) kubectlScale(namespace, name, replicas string) {
	w.Helper()
	_, _, err := w.cluster.Kubectl(w.Context(), "", "scale", "--namespace", namespace, "deployment/"+name, "--replicas="+replicas)
	w.must(err)
}
