package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// installation is a mode of the webhooks' certificates; docs/gitops.md describes both.
type installation struct {
	name string
	// base is the resource of config/argocd/kyklos, relative to it.
	base string
	// mounted: the manager reads its certificate from files.
	mounted bool
}

var installations = []installation{
	{"cert-manager", "../../" + harness.Default, true},
	{"self-managed", "../../" + harness.SelfManaged, false},
}

// startCertManager runs cert-manager until the test ends.
func (w *scenario) startCertManager() {
	w.Helper()
	w.Must(w.Cluster.InstallCertManager(w.Context()))
	var log harness.Log
	running, err := w.Cluster.StartCertManager(&log)
	w.Must(err)
	w.Cleanup(func() {
		_ = running.Stop()
		if content := log.String(); w.Failed() {
			w.Logf("cert-manager logged:\n%s", content[max(0, len(content)-8000):])
		}
	})
}

// heldBack keeps a simulated pod from becoming ready; see test/platform/devcluster/kubelet.
const heldBack = "devcluster.kyklos.io/ready"

// render renders config/argocd/kyklos with the installation's base. The manager is a process of this machine. The pods
// of its Deployment represent it and become ready with it.
func (w *scenario) render(i installation) string {
	w.Helper()
	root, err := harness.Root()
	w.Must(err)
	shipped := filepath.Join(root, "config", "argocd", "kyklos")
	content, err := os.ReadFile(filepath.Join(shipped, "kustomization.yaml"))
	w.Must(err)
	folder := w.TempDir()
	shipped, err = filepath.Rel(folder, shipped)
	w.Must(err)
	kustomization := strings.Replace(string(content), "../../default", i.base, 1)
	kustomization = strings.ReplaceAll(kustomization, "- ../", "- "+shipped+"/../")
	w.Must(os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(kustomization), 0o600))
	manifests, err := w.Cluster.Render(w.Context(), folder, w.webhookPort)
	w.Must(err)
	rendered, _ := w.Kubectl("", "kustomize", folder)
	for _, object := range w.objects(rendered) {
		if object.GetKind() != "Deployment" {
			continue
		}
		w.Must(unstructured.SetNestedField(object.Object, "false", "spec", "template", "metadata", "annotations", heldBack))
		text, err := yaml.Marshal(object.Object)
		w.Must(err)
		manifests += "---\n" + string(text)
	}
	return manifests
}

// build builds the manager with a clock that can be set.
func (w *scenario) build() {
	w.Helper()
	w.binary = filepath.Join(w.TempDir(), "kyklos")
	w.Must(harness.BuildMovable(w.Context(), w.binary))
}

// startManager starts the manager when Argo CD has applied its Deployment. It runs until whole ends.
func (w *scenario) startManager(whole *scenario, i installation) {
	w.Helper()
	if whole.manager != nil {
		w.Must(whole.manager.Stop())
	}
	w.Eventually("the manager's Deployment", func() error {
		manager := &appsv1.Deployment{}
		err := w.Client.Get(w.Context(), managerKey, manager)
		if err != nil {
			return err
		}
		reads := func(flag string) bool { return strings.HasPrefix(flag, "--webhook-cert-dir=") }
		if slices.ContainsFunc(manager.Spec.Template.Spec.Containers[0].Args, reads) != i.mounted {
			return errors.New("it is that of another installation")
		}
		return nil
	})
	args := []string{"--requeue-jitter-max=0", "--log-format=text", "--leader-elect=false"}
	if i.mounted {
		args = append(args, "--webhook-cert-dir="+w.mount(whole))
	}
	log, err := os.Create(filepath.Join(w.Cluster.Dir, i.name+".log"))
	w.Must(err)
	manager, err := w.Cluster.StartManager(w.Context(), harness.ManagerOptions{
		WebhookPort: w.webhookPort, Binary: w.binary, Log: log, Args: args, Env: []string{w.clockFile.Env()},
	})
	w.Must(err)
	whole.manager = manager
	whole.Cleanup(func() {
		_ = manager.Stop()
		if content, _ := os.ReadFile(log.Name()); whole.Failed() {
			whole.Logf("the manager logged:\n%s", content[max(0, len(content)-8000):])
		}
	})
	w.admitPods(manager)
}

var managerKey = client.ObjectKey{Namespace: harness.SystemNamespace, Name: "kyklos-manager"}

// mount mounts the webhooks' Secret in a folder until whole ends, as a kubelet does.
func (w *scenario) mount(whole *scenario) string {
	w.Helper()
	dir := whole.TempDir()
	ctx, cancel := context.WithTimeout(w.Context(), harness.Patience)
	defer cancel()
	volume, err := w.Cluster.MountSecret(ctx, harness.SystemNamespace, "kyklos-webhook-tls", dir, 0)
	w.Must(err)
	whole.Cleanup(func() { _ = volume.Close() })
	return dir
}

// admitPods waits until the manager is ready, and then lets the pods that represent it become ready, so that the rollout
// completes.
func (w *scenario) admitPods(manager *harness.Manager) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute) // before Argo CD gives up waiting
	defer cancel()
	if err := manager.AwaitReady(ctx); err != nil {
		_, body := w.GetURL(manager.HealthURL + "/readyz/certificate")
		w.Fatalf("%v: %s", err, body)
	}
	w.Eventually("the manager's rollout", func() error {
		pods := &corev1.PodList{}
		w.Must(w.Client.List(w.Context(), pods, client.InNamespace(managerKey.Namespace)))
		for _, pod := range pods.Items {
			if pod.Annotations[heldBack] == "false" {
				patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+heldBack+`":null}}}`))
				w.Must(client.IgnoreNotFound(w.Client.Patch(w.Context(), &pod, patch)))
			}
		}
		deployment := &appsv1.Deployment{}
		w.Must(w.Client.Get(w.Context(), managerKey, deployment))
		status := deployment.Status
		if want := *deployment.Spec.Replicas; status.ObservedGeneration < deployment.Generation || status.Replicas != want ||
			status.UpdatedReplicas != want || status.AvailableReplicas != want {
			return errors.New("pods are being replaced")
		}
		return nil
	})
}

// A spec that no manager has observed yet is Progressing.
func (w *scenario) noManager(manager *harness.Manager) {
	const name = "no-manager"
	a, _ := w.starts(name, "")
	w.Must(manager.Stop())
	w.git.write(shop(name, "", "web:1", "  gracePeriodSeconds: 60"))
	revision := w.git.push()
	a.refresh("normal")
	a.awaits("Progressing", func(v view) bool { return v.Sync == "Synced" && v.Revision == revision && v.Health == "Progressing" })
}

// Removal as in docs/gitops.md: the definition and every TimeWindowScaler stay, and the workloads do not change.
func (w *scenario) removed() {
	const name = "removed"
	w.git.write(map[string]string{
		name + "/kyklos.yaml": w.kyklos,
		// The Application's namespace must exist.
		name + "/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n",
	})
	revision := w.git.push()
	a := w.create(name)
	a.refresh("normal")
	a.awaits("Synced", func(v view) bool { return v.Sync == "Synced" && v.Revision == revision })
	scalers, workloads := w.everywhere("kyklos.io/v1beta1", "TimeWindowScaler"), w.everywhere("apps/v1", "Deployment")
	delete(workloads, managerKey.String())

	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["resources-finalizer.argocd.argoproj.io"]}}`))
	w.Must(w.Client.Patch(w.Context(), a.read(), patch))
	a.forget()
	w.Eventually("the end of the application", func() error {
		if left := w.everywhere("argoproj.io/v1alpha1", "Application"); left["argocd/"+name] != "" {
			return errors.New("it exists")
		}
		return nil
	})
	same(w, w.everywhere("kyklos.io/v1beta1", "TimeWindowScaler"), scalers)
	same(w, w.everywhere("apps/v1", "Deployment"), workloads)
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		same(w, w.everywhere("admissionregistration.k8s.io/v1", kind)["/kyklos-webhook"], "")
	}
}

// everywhere returns the UIDs and generations of all objects of a kind, by namespace and name.
func (w *scenario) everywhere(apiVersion, kind string) map[string]string {
	w.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	w.Must(w.Client.List(w.Context(), list))
	objects := map[string]string{}
	for _, object := range list.Items {
		objects[client.ObjectKeyFromObject(&object).String()] = fmt.Sprintf("%s, generation %d", object.GetUID(), object.GetGeneration())
	}
	return objects
}
