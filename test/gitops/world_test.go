package gitops

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/controlplane"
)

// world is a cluster with Argo CD on it, and a manager of Kyklos with a clock that tests set.
type world struct {
	*testing.T
	cluster *controlplane.Cluster
	admin   client.WithWatch
	git     *repository
	// kyklos is what Git has of Kyklos: the manifests as they are shipped, but for the manager, which is a
	// process of this machine.
	kyklos      string
	webhookPort int
	clockFile   controlplane.Clock
	manager     *controlplane.Manager
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	cluster, err := controlplane.Start(t.Context(), filepath.Join(dir, "cluster"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	w := &world{T: t, cluster: cluster, clockFile: controlplane.Clock(filepath.Join(dir, "clock"))}
	w.admin, err = client.NewWithWatch(cluster.Config, client.Options{})
	w.must(err)
	w.webhookPort, err = controlplane.FreePort()
	w.must(err)
	w.kyklos = w.render()
	w.clock("2025-01-27 08:00:00")
	startArgoCD(t, cluster)
	return w
}

// render renders the installation that needs nothing but Kubernetes, in the order in which Argo CD applies it.
func (w *world) render() string {
	w.Helper()
	folder := w.TempDir()
	root, err := controlplane.Root()
	w.must(err)
	root, err = filepath.Rel(folder, root)
	w.must(err)
	kustomization := "resources: [" + root + "/config/" + controlplane.SelfManaged + "]\ncomponents: [" + root + "/config/argocd/waves]\n"
	w.must(os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(kustomization), 0o600))
	manifests, err := w.cluster.Render(w.Context(), folder, w.webhookPort)
	w.must(err)
	return manifests
}

// startManager runs the manager as soon as Argo CD has made its identity, until whole ends.
func (w *world) startManager(whole *world) {
	w.Helper()
	binary := filepath.Join(whole.TempDir(), "kyklos")
	root, err := controlplane.Root()
	w.must(err)
	w.must(controlplane.BuildMovable(w.Context(), root, binary))
	w.eventually("the manager's ServiceAccount", func() string {
		return complaint(w.admin.Get(w.Context(), client.ObjectKey{Namespace: controlplane.SystemNamespace, Name: "kyklos-manager"}, &corev1.ServiceAccount{}))
	})
	log, err := os.Create(filepath.Join(w.cluster.Dir, "manager.log"))
	w.must(err)
	manager, err := w.cluster.StartManager(w.Context(), controlplane.ManagerOptions{
		WebhookPort: w.webhookPort, Binary: binary, Log: log,
		Args: []string{"--requeue-jitter-max=0", "--log-format=text", "--leader-elect=false"},
		Env:  []string{w.clockFile.Env()},
	})
	w.must(err)
	whole.manager = manager
	whole.Cleanup(func() {
		_ = manager.Stop()
		if content, _ := os.ReadFile(log.Name()); whole.Failed() {
			whole.Logf("the manager logged:\n%s", content[max(0, len(content)-8000):])
		}
	})
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

func complaint(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
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
