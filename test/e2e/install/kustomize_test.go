package install

import (
	"strings"
	"testing"
)

// suspended is a DaemonSet whose schedule always wants 0.
const suspended = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "nginx:stable"}]}
---
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: agent}
spec:
  targetRef: {kind: DaemonSet, name: agent}
  timezone: UTC
  defaultReplicas: 0
  windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: 0}]
`

// One installation is applied over the other, works, and is removed. Schedules and workloads stay as they are, and
// namespaces can be deleted.
func testKustomize(t *testing.T) {
	s := newScenario(t)
	s.installCertManager()
	s.runShown("kubectl apply config/default")
	s.runShown("kubectl apply config/overlays/self-managed", "--force-conflicts")
	s.redirectWebhooks()
	stop := s.startManager()
	s.runShown("kubectl rollout status")
	s.runShown("kubectl apply timezone-abbreviation")
	s.run("kubectl create namespace shop")
	s.apply("shop", schedule("web", "v1beta1", ""))
	s.apply("shop", suspended)
	s.awaitReplicas("shop", "web", "3")
	const listed = "kubectl get daemonsets -A -o jsonpath"
	s.await("kubectl -n shop get daemonset agent -o jsonpath='{.spec.template.spec.nodeSelector}'", `{"kyklos.io/suspended":"true"}`)
	s.runShown(listed)
	workloads := s.workloads()

	s.workspaces(stop)
	s.runShown("kubectl delete component!=crd", "--timeout=5m")
	if got := s.workloads(); got != workloads {
		t.Errorf("after the removal: got the workloads\n%s\nwant\n%s", got, workloads)
	}
	s.await("kubectl get all,mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,clusterrolebindings,priorityclasses,namespaces -A -l app.kubernetes.io/part-of=kyklos -o name", "")
	if got := s.run(s.findShown(listed).Text); got != "shop/agent\n" {
		t.Errorf("suspended DaemonSets: got %q, want shop/agent", got)
	}
	s.run("kubectl delete namespace shop --timeout=5m")
	s.runShown("kubectl delete crd", "--timeout=5m")
}

// workspaces deletes a Workspace as the page says, stops the manager, and deletes another one without it.
func (s *scenario) workspaces(stop func()) {
	s.Helper()
	const held = `kubectl -n shop get workspace ann -o jsonpath='{.metadata.finalizers}'`
	workspace := func() {
		s.apply("shop", "apiVersion: kyklos.io/v1alpha1\nkind: Workspace\nmetadata:\n  name: ann\nspec:\n  image: ide:1\n  desiredState: PENDING\n")
		s.await(held, `["kyklos.io/workspace"]`)
	}
	workspace()
	s.runShown("kubectl get workspaces")
	s.runShown("kubectl delete workspaces", "--timeout=5m")
	workspace()
	stop()
	s.run("kubectl -n shop delete workspace ann --wait=false")
	s.run("kubectl config set-context --current --namespace shop")
	s.run(strings.ReplaceAll(s.findShown("kubectl patch workspace").Text, "NAME", "ann"))
	s.run("kubectl config set-context --current --namespace default")
	s.await("kubectl -n shop get workspaces -o name", "")
}

// Removing things in another order than the page's blocks where the page says so, and its commands unblock it.
func testAnotherOrder(t *testing.T) {
	s := newScenario(t)
	s.run("kubectl apply --server-side -k config/overlays/self-managed")
	s.redirectWebhooks()
	stop := s.startManager()
	s.run("kubectl create namespace shop")
	s.apply("shop", schedule("web", "v1beta1", ""))
	s.awaitReplicas("shop", "web", "3")

	// The definition is deleted before the manager.
	s.run("kubectl delete crd " + definition + " --timeout=5m")
	s.awaitReplicas("shop", "web", "3")
	s.run("kubectl apply --server-side -k config/overlays/self-managed")
	s.redirectWebhooks()
	s.apply("shop", schedule("again", "v1beta1", ""))
	s.awaitReplicas("shop", "again", "3")

	// The manager is deleted before the webhook configurations.
	stop()
	s.run("kubectl delete namespace kyklos-system --timeout=5m")
	s.apply("shop", schedule("web", "v1beta1", "  pause: true\n"))
	s.run("kubectl -n shop delete tws again")
	s.runShown("kubectl delete mutatingwebhookconfiguration")

	// The manager is deleted before a storage migration is complete.
	s.setStorage("v1alpha1")
	s.apply("shop", schedule("old", "v1alpha1", ""))
	s.setStorage("v1beta1")
	s.fails("kubectl -n shop get tws old", "conversion webhook")
	s.run("kubectl delete namespace shop --wait=false")
	s.await(`kubectl get namespace shop -o jsonpath='{.status.conditions[?(@.type=="NamespaceDeletionContentFailure")].status}'`, "True")
	s.run("kubectl delete crd " + definition + " --wait=false")
	s.await(`kubectl get crd `+definition+` -o jsonpath='{.status.conditions[?(@.type=="Terminating")].reason}'`, "InstanceDeletionFailed")
	s.retryShown("kubectl patch crd")
	// The API server tries again after pauses that double with each failure, up to five minutes.
	s.run("kubectl wait --for=delete namespace/shop crd/" + definition + " --timeout=12m")
}

// setStorage makes a version the storage version.
func (s *scenario) setStorage(version string) {
	s.Helper()
	older, newer := "false", "true"
	if version == "v1alpha1" {
		older, newer = newer, older
	}
	s.run("kubectl patch crd " + definition + ` --type=json -p '[{"op":"replace","path":"/spec/versions/0/storage","value":` + older +
		`},{"op":"replace","path":"/spec/versions/1/storage","value":` + newer + `}]'`)
}
