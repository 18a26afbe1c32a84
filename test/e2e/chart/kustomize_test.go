package chart

import (
	"strings"
	"testing"
)

// learnCertManager installs cert-manager's definitions; nobody is at work on them.
func (s *stage) learnCertManager() {
	s.Helper()
	if err := s.cluster.InstallCertManager(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// A suspended DaemonSet: its schedule always says 0.
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

// Both installations are applied, one over the other; the second one works, is removed but for the
// schedules, and leaves workloads as they are and namespaces free to go.
func testKustomize(t *testing.T) {
	s := newStage(t)
	s.learnCertManager()
	s.follow("kubectl apply config/default")
	s.follow("kubectl apply config/overlays/self-managed", "--force-conflicts")
	s.lead()
	stop := s.manage()
	s.follow("kubectl rollout status")
	s.follow("kubectl apply timezone-abbreviation")
	s.run("kubectl create namespace shop")
	s.mustApply("shop", schedule("web", "v1beta1", ""))
	s.mustApply("shop", suspended)
	s.awaitReplicas("shop", "web", "3")
	const listed = "kubectl get daemonsets -A -o jsonpath"
	s.await("kubectl -n shop get daemonset agent -o jsonpath='{.spec.template.spec.nodeSelector}'", `{"kyklos.io/suspended":"true"}`)
	s.follow(listed)
	workloads := s.workloads()

	s.workspaces(stop)
	s.follow("kubectl delete component!=crd", "--timeout=2m")
	if got := s.workloads(); got != workloads {
		t.Errorf("removed: the workloads are\n%s\nthey were\n%s", got, workloads)
	}
	s.await("kubectl get all,mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,clusterrolebindings,priorityclasses,namespaces -A -l app.kubernetes.io/part-of=kyklos -o name", "")
	if got := s.run(commandOf(t, listed)); got != "shop/agent\n" {
		t.Errorf("suspended are %q", got)
	}
	s.run("kubectl delete namespace shop --timeout=2m")
	s.follow("kubectl delete crd", "--timeout=2m")
}

// workspaces makes two Workspaces, of which one goes as the page says, and the other without Kyklos, for
// which stop ends the manager.
func (s *stage) workspaces(stop func()) {
	s.Helper()
	const held = `kubectl -n shop get workspace ann -o jsonpath='{.metadata.finalizers}'`
	workspace := func() {
		s.mustApply("shop", "apiVersion: kyklos.io/v1alpha1\nkind: Workspace\nmetadata:\n  name: ann\nspec:\n  image: ide:1\n  desiredState: PENDING\n")
		s.await(held, `["kyklos.io/workspace"]`)
	}
	workspace()
	s.follow("kubectl get workspaces")
	s.follow("kubectl delete workspaces", "--timeout=2m")
	workspace()
	stop()
	s.run("kubectl -n shop delete workspace ann --wait=false")
	s.run("kubectl config set-context --current --namespace shop")
	s.run(strings.ReplaceAll(s.find("kubectl patch workspace").command, "NAME", "ann"))
	s.run("kubectl config set-context --current --namespace default")
	s.await("kubectl -n shop get workspaces -o name", "")
}

// commandOf returns the page's command that contains text.
func commandOf(t *testing.T, text string) string {
	t.Helper()
	for _, c := range page(t) {
		if strings.Contains(c.command, text) {
			return c.command
		}
	}
	t.Fatalf("docs/install.md has no command with %q", text)
	return ""
}

// What goes in another order than the page's hangs where the page says so, and is freed as it says.
func testAnotherOrder(t *testing.T) {
	s := newStage(t)
	s.run("kubectl apply --server-side -k config/overlays/self-managed")
	s.lead()
	stop := s.manage()
	s.run("kubectl create namespace shop")
	s.mustApply("shop", schedule("web", "v1beta1", ""))
	s.awaitReplicas("shop", "web", "3")

	// The definition before the manager.
	s.run("kubectl delete crd " + definition + " --timeout=2m")
	s.awaitReplicas("shop", "web", "3")
	s.run("kubectl apply --server-side -k config/overlays/self-managed")
	s.lead()
	s.mustApply("shop", schedule("again", "v1beta1", ""))
	s.awaitReplicas("shop", "again", "3")

	// The manager before the webhook configurations.
	stop()
	s.run("kubectl delete namespace kyklos-system --timeout=2m")
	s.mustApply("shop", schedule("web", "v1beta1", "  pause: true\n"))
	s.run("kubectl -n shop delete tws again")
	s.follow("kubectl delete mutatingwebhookconfiguration")

	// The manager before a storage migration is done.
	s.store("v1alpha1")
	s.mustApply("shop", schedule("old", "v1alpha1", ""))
	s.store("v1beta1")
	s.fails("kubectl -n shop get tws old", "conversion webhook")
	s.run("kubectl delete namespace shop --wait=false")
	s.await(`kubectl get namespace shop -o jsonpath='{.status.conditions[?(@.type=="NamespaceDeletionContentFailure")].status}'`, "True")
	s.run("kubectl delete crd " + definition + " --wait=false")
	s.await(`kubectl get crd `+definition+` -o jsonpath='{.status.conditions[?(@.type=="Terminating")].reason}'`, "InstanceDeletionFailed")
	s.repeat("kubectl patch crd")
	s.run("kubectl wait --for=delete namespace/shop crd/" + definition + " --timeout=3m")
}

// store makes a version the one that objects are stored in.
func (s *stage) store(version string) {
	s.Helper()
	older, newer := "false", "true"
	if version == "v1alpha1" {
		older, newer = newer, older
	}
	s.run("kubectl patch crd " + definition + ` --type=json -p '[{"op":"replace","path":"/spec/versions/0/storage","value":` + older +
		`},{"op":"replace","path":"/spec/versions/1/storage","value":` + newer + `}]'`)
}
