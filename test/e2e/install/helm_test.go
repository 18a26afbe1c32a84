package install

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// The previous release is upgraded with scalers of both versions, rolled back, upgraded again, uninstalled and installed
// again: by server-side apply, as in Helm 4, and by three-way merge, as in Helm 3.
func testHelm(t *testing.T, apply string) {
	s := newScenario(t)
	before := older(t, s.root)
	s.run("helm install kyklos " + before + " -n kyklos-system --create-namespace --set certificates.mode=self-managed,podLabels.chosen=once --wait " + apply)
	s.redirectWebhooks()
	stop := s.startManager()
	s.run("kubectl create namespace shop")
	s.apply("shop", schedule("newer", "v1beta1", ""))
	s.apply("shop", schedule("older", "v1alpha1", ""))
	grace := schedule("graceful", "v1beta1", "  gracePeriodSeconds: 60\n")
	if err := s.tryApply("shop", grace); err == nil || !strings.Contains(err.Error(), `unknown field "spec.gracePeriodSeconds"`) {
		t.Fatalf("the definition of before takes a field that it lacks: %v", err)
	}
	for _, name := range []string{"newer", "older"} {
		s.awaitReplicas("shop", name, "3")
	}
	s.run("kubectl -n shop delete deployment graceful --ignore-not-found")
	workloads, authorities := s.workloads(), s.authorities()
	unchanged := func(what string) {
		t.Helper()
		if got := s.workloads(); got != workloads {
			t.Errorf("%s: the workloads are\n%s\nthey were\n%s", what, got, workloads)
		}
		if got := s.authorities(); got != authorities {
			t.Errorf("%s: the webhooks are called by\n%s\nit was\n%s", what, got, authorities)
		}
		s.run("kubectl -n shop get timewindowscalers.v1alpha1.kyklos.io older")
		s.await("kubectl -n kyklos-system get deployment kyklos-manager -o jsonpath={.spec.template.metadata.labels.chosen}", "once")
	}
	unchanged("before")

	s.runShown("helm upgrade --reset-then-reuse-values", "--wait")
	unchanged("the upgrade")
	s.await("kubectl get crd "+definition+` -o jsonpath='{.metadata.labels.helm\.sh/chart}'`, "kyklos-0.1.0")
	s.apply("elsewhere", namespaced(grace))
	s.awaitReplicas("elsewhere", "graceful", "3")

	s.runShown("helm rollback", "--wait")
	unchanged("the rollback")
	s.await("kubectl get crd "+definition+` -o jsonpath='{.metadata.labels.helm\.sh/chart}'`, "kyklos-0.0.9")
	s.awaitReplicas("elsewhere", "graceful", "3")

	s.run("helm upgrade kyklos config/chart -n kyklos-system --reset-then-reuse-values --wait")
	unchanged("the second upgrade")
	if apply == "" {
		s.uninstall(stop, workloads)
	}
}

// uninstall uninstalls the release, installs it again, and removes everything.
func (s *scenario) uninstall(stop func(), workloads string) {
	s.Helper()
	s.runShown("helm uninstall", "--wait")
	stop()
	if got := s.workloads(); got != workloads {
		s.Errorf("uninstalled: the workloads are\n%s\nthey were\n%s", got, workloads)
	}
	s.await("kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations,clusterroles,clusterrolebindings -l app.kubernetes.io/name=kyklos -o name", "")
	s.apply("shop", schedule("newer", "v1beta1", "  pause: true\n"))
	s.fails("kubectl -n shop get timewindowscalers.v1alpha1.kyklos.io older", "conversion webhook")

	s.runShown("helm install --create-namespace certificates.mode=self-managed")
	s.redirectWebhooks()
	stop = s.startManager()
	s.run("kubectl -n shop get timewindowscalers.v1alpha1.kyklos.io older")
	s.run("kubectl -n shop patch tws newer --type=merge -p '{\"spec\":{\"pause\":false,\"defaultReplicas\":2,\"windows\":[{\"days\":[\"Mon\"],\"start\":\"09:00\",\"end\":\"17:00\",\"replicas\":2}]}}'")
	s.awaitReplicas("shop", "newer", "2")
	s.run("helm uninstall kyklos -n kyklos-system --wait")
	stop()
	s.run("kubectl delete namespace shop elsewhere kyklos-system --timeout=5m")
	s.runShown("kubectl delete crd", "--timeout=5m")
}

// namespaced adds the namespace elsewhere to a manifest.
func namespaced(manifest string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: elsewhere}\n---\n" + manifest
}

// older returns a copy of the chart as an earlier release: with a lower version, and a definition without
// spec.gracePeriodSeconds.
func older(t *testing.T, root string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "kyklos")
	harness.Must(t, os.CopyFS(folder, os.DirFS(filepath.Join(root, "config", "chart"))))
	change := func(file string, pattern, replacement string) {
		path := filepath.Join(folder, file)
		content, err := os.ReadFile(path)
		harness.Must(t, err)
		changed := regexp.MustCompile(pattern).ReplaceAll(content, []byte(replacement))
		if string(changed) == string(content) {
			t.Fatalf("%s has nothing like %s", file, pattern)
		}
		harness.Must(t, os.WriteFile(path, changed, 0o600))
	}
	change("Chart.yaml", `(?m)^version: .*`, "version: 0.0.9")
	change("templates/generated/customresourcedefinition-"+definition+".yaml", `(?m)^ {14}gracePeriodSeconds:\n(?: {16}.*\n)+`, "")
	return folder
}

// A release without the definition keeps it, and one with crds.keep=false removes it. The pods run where the strictest
// Pod Security Standard is enforced.
func testDefinition(t *testing.T) {
	s := newScenario(t)
	s.installCertManager()
	s.runShown("helm install --create-namespace", "--wait")
	s.runShown("kubectl label namespace")
	s.runShown("kubectl rollout status")
	s.run("kubectl create namespace shop")
	s.apply("shop", schedule("web", "v1beta1", ""))
	s.fails("kubectl patch crd "+definition+` --type=json -p '[{"op":"replace","path":"/spec/versions/0/storage","value":true},{"op":"remove","path":"/spec/versions/1"}]'`, "missing from spec.versions")

	s.run("kubectl create namespace lab")
	s.runShown("helm upgrade namespaces")
	s.run("kubectl -n shop get role kyklos-manager-served && kubectl -n lab get role kyklos-manager-served")
	s.fails("kubectl get clusterrole kyklos-manager", "NotFound")
	s.runShown("kubectl apply config/crd")
	s.runShown("helm upgrade crds.install=false")
	s.run("kubectl -n shop get tws web")
	s.run("helm uninstall kyklos -n kyklos-system --wait && kubectl -n shop get tws web")

	s.fails("helm install other config/chart -n elsewhere --create-namespace --set certificates.mode=self-managed", "cannot be imported into the current release")
	s.run("helm install other config/chart -n elsewhere --create-namespace --take-ownership --force-conflicts --set certificates.mode=self-managed,crds.keep=false")
	s.run("kubectl -n shop get tws web")
	s.run("helm uninstall other -n elsewhere --wait --timeout 2m")
	s.fails("kubectl get crd "+definition, "NotFound")
}
