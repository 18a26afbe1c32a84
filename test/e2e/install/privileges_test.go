package install

import (
	"fmt"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// shared are the rights of every authenticated user that the manager uses.
var shared = []string{"create authorization.k8s.io/selfsubjectaccessreviews", "get /readyz", "get discovery"}

// furtherKind is the ClusterRole of docs/targets.md for a further kind.
const furtherKind = `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: kyklos-replicationcontrollers, labels: {kyklos.io/aggregate-to-manager: "true"}}, rules: [
  {apiGroups: [""], resources: [replicationcontrollers], verbs: [get, list, watch]},
  {apiGroups: [""], resources: [replicationcontrollers/scale], verbs: [get, patch]}]}
`

// degraded prints why a schedule is Degraded.
const degraded = `-o=jsonpath={.status.conditions[?(@.type=="Degraded")].message}`

// The manager uses all its grants and tries nothing else: with certificates of cert-manager, and then with its own.
func TestWholeCluster(t *testing.T) {
	s := newAuditedScenario(t, harness.ExternalMetrics, harness.HostProcesses)
	s.install(harness.Default)
	t.Run("manifests", s.manifests)
	t.Run("pods", s.pods)
	s.Kubectl(furtherKind, "apply", "-f", "-")
	args := s.args(harness.Default)
	s.exercise("default", args...)
	s.exerciseWorkspace("default", args...)
	metrics, err := harness.FreePort()
	s.Must(err)
	m := s.start(harness.ManagerOptions{Args: append(args, "--metrics-secure", fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", metrics))})
	s.readMetrics(metrics)
	s.migrate()
	s.Must(m.Stop())
	t.Run("default", func(t *testing.T) { s.leastPrivilege(t, shared...) })

	s.install(harness.SelfManaged)
	for _, watchList := range []string{"false", "true"} {
		m = s.start(harness.ManagerOptions{Args: s.args(harness.SelfManaged), Env: []string{"KUBE_FEATURE_WatchListClient=" + watchList}})
		s.replaceCA()
		s.Must(m.Stop())
	}
	t.Run("self-managed", func(t *testing.T) { s.leastPrivilege(t, shared...) })
}

// Without Workspaces the manager has none of their permissions, and does everything else. A schedule for a Workspace says why it
// does nothing.
func TestWithoutWorkspaces(t *testing.T) {
	s := newAuditedScenario(t, harness.ExternalMetrics)
	s.without = true
	s.install(harness.WithoutWorkspaces)
	s.Kubectl(furtherKind, "apply", "-f", "-")
	args := s.args(harness.WithoutWorkspaces)
	s.exercise("default", args...)
	const why = "this Kyklos does not serve Workspaces here (flag --workspaces=false)"
	s.awaitOutput(why, "-n", "default", "tws/ada", degraded)
	metrics, err := harness.FreePort()
	s.Must(err)
	m := s.start(harness.ManagerOptions{Args: append(args, "--metrics-secure", fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", metrics))})
	s.readMetrics(metrics)
	_, said := s.Kubectl(scaler("again", "kyklos.io/v1alpha1", "Workspace", 1), "apply", "-f", "-")
	if want := `this Kyklos does not serve Workspaces in namespace "default" (flag --workspaces=false)`; !strings.Contains(said, want) {
		t.Errorf("a schedule for a Workspace: got %q, want a warning %q", said, want)
	}
	s.migrate()
	s.Must(m.Stop())
	s.leastPrivilege(t, shared...)
}

// With Workspaces in one namespace, their permissions are a Role there. In the others they are left alone, with a warning.
func TestWorkspacesInSomeNamespaces(t *testing.T) {
	s := newAuditedScenario(t, harness.HostProcesses)
	s.Kubectl("", "create", "namespace", "team")
	s.install(harness.SomeWorkspaces)
	args := append(s.args(harness.SomeWorkspaces), "--storage-migration=false")
	s.exerciseWorkspace("team", args...)
	// Older API servers do not send the existing objects at the start of a watch, so they are listed.
	m := s.start(harness.ManagerOptions{Args: args, Env: []string{"KUBE_FEATURE_WatchListClient=false"}})
	const elsewhere = `this Kyklos does not serve namespace "default" (flag --workspace-namespaces)`
	_, said := s.Kubectl(workloads, "apply", "-f", "-")
	if !strings.Contains(said, elsewhere) {
		t.Errorf("a Workspace elsewhere: got %q, want a warning %q", said, elsewhere)
	}
	for _, namespace := range []string{"team", "default"} {
		s.Kubectl(workloads, "apply", "-n", namespace, "-f", "-")
		s.Kubectl(scaler("ada", "kyklos.io/v1alpha1", "Workspace", 1)+scaler("web", "apps/v1", "Deployment", 2), "apply", "-n", namespace, "-f", "-")
		s.awaitField(namespace, "deployment/web", "{.spec.replicas}", "2")
	}
	s.awaitField("team", "workspace/ada", "{.spec.desiredState}", "RUNNING")
	s.awaitOutput("this Kyklos does not serve Workspaces here (flag --workspace-namespaces)", "-n", "default", "tws/ada", degraded)
	if status, _ := s.Kubectl("", "get", "workspace", "ada", "-o=jsonpath={.status}{.metadata.finalizers}"); status != "" {
		t.Errorf("a Workspace elsewhere was touched: %s", status)
	}
	s.Must(m.Stop())
	u := s.usage()
	if len(u.forbidden) > 0 {
		t.Errorf("forbidden:\n  %s", strings.Join(u.forbidden, "\n  "))
	}
	for _, g := range u.granted {
		if g.group == "" && (g.resource == "secrets" || g.resource == "pods" && g.verb != "get") && g.namespace != "team" {
			t.Errorf("granted outside of the namespace: %s", g)
		}
	}
	for _, g := range u.unused {
		if g.namespace == "team" {
			t.Errorf("granted and never used: %s", g)
		}
	}
}

// A manager for some namespaces needs Roles only. It does not touch the other namespaces, but validates their objects.
func TestSomeNamespaces(t *testing.T) {
	s := newAuditedScenario(t, harness.ExternalMetrics, harness.HostProcesses)
	s.Kubectl("", "create", "namespace", "lab")
	s.runPermissionsPage(t)
	s.install(harness.Namespaced + "/cluster")
	s.install(harness.Namespaced)
	role := strings.Replace(furtherKind, "kind: ClusterRole, metadata: {", "kind: Role, metadata: {namespace: shop, ", 1)
	s.Kubectl(role, "apply", "-f", "-")
	s.Kubectl("", "create", "rolebinding", "-n", "shop", "kyklos-replicationcontrollers", "--role=kyklos-replicationcontrollers",
		"--serviceaccount=kyklos-system:kyklos-manager")
	args := s.args(harness.Namespaced)
	s.exercise("shop", args...)
	s.exerciseWorkspace("shop", args...)

	m := s.start(harness.ManagerOptions{Args: args})
	s.Kubectl(workloads, "apply", "-n", "lab", "-f", "-")
	_, said := s.Kubectl(scalers, "apply", "-n", "lab", "-f", "-")
	const unserved = `Warning: metadata.namespace: this Kyklos does not serve namespace "lab" (flag --namespaces): nothing happens here unless another Kyklos does`
	if other := strings.ReplaceAll(said, unserved+"\n", ""); strings.Contains(other, "Warning") || !strings.Contains(said, unserved) {
		t.Errorf("a namespace that is not served: got the warnings %s", said)
	}
	for _, namespace := range []string{"shop", "lab"} {
		_, _, err := s.Cluster.Kubectl(t.Context(), scaler("strange", "example.com/v1", "Strange", 1), "apply", "-n", namespace, "-f", "-")
		if err == nil || !strings.Contains(err.Error(), "example.com/v1 has no Strange") {
			t.Errorf("%s: an unknown kind: got %v, want a refusal", namespace, err)
		}
	}
	// The manager reconciles a later object in a namespace that it serves.
	s.Kubectl(scaler("last", "apps/v1", "Deployment", 1), "apply", "-n", "shop", "-f", "-")
	s.awaitField("shop", "tws/last", `{.status.conditions[?(@.type=="Ready")].reason}`, "TargetNotFound")
	if status, _ := s.Kubectl("", "get", "tws", "-n", "lab", "-o=jsonpath={.items[*].status}"); status != "" {
		t.Errorf("a namespace that is not served: got the statuses %s", status)
	}
	if replicas, _ := s.Kubectl("", "get", "deployments", "-n", "lab", "-o=jsonpath={.items[*].spec.replicas}"); replicas != "0 0" {
		t.Errorf("a namespace that is not served: got the replicas %s, want 0 0", replicas)
	}
	s.Must(m.Stop())
	s.leastPrivilege(t, shared...)
}
