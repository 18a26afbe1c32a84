package installation

import (
	"fmt"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/controlplane"
)

// everybodys is what the manager does by the rights that every authenticated user has.
var everybodys = []string{"create authorization.k8s.io/selfsubjectaccessreviews", "get /readyz", "get discovery"}

// furtherKind is what docs/targets.md tells to grant for a further kind, for all namespaces and for one.
const furtherKind = `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: kyklos-replicationcontrollers, labels: {kyklos.io/aggregate-to-manager: "true"}}, rules: [
  {apiGroups: [""], resources: [replicationcontrollers], verbs: [get, list, watch]},
  {apiGroups: [""], resources: [replicationcontrollers/scale], verbs: [get, patch]}]}
`

// The manager does all that it may and tries nothing else: with certificates from elsewhere, and then
// with its own.
func TestWholeCluster(t *testing.T) {
	s := newSite(t, controlplane.ExternalMetrics, controlplane.HostProcesses)
	s.install(controlplane.Default)
	t.Run("manifests", s.manifests)
	t.Run("pods", s.pods)
	s.kubectl(furtherKind, "apply", "-f", "-")
	args := s.args(controlplane.Default)
	s.scales("default", args...)
	s.keepsHomes("default", args...)
	metrics, err := controlplane.FreePort()
	s.must(err)
	m := s.manager(controlplane.ManagerOptions{Args: append(args, "--metrics-secure", fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", metrics))})
	s.guardsMetrics(metrics)
	s.migrates()
	s.must(m.Stop())
	t.Run("default", func(t *testing.T) { s.leastPrivilege(t, everybodys...) })

	s.install(controlplane.SelfManaged)
	for _, watchList := range []string{"false", "true"} {
		m = s.manager(controlplane.ManagerOptions{Args: s.args(controlplane.SelfManaged), Env: []string{"KUBE_FEATURE_WatchListClient=" + watchList}})
		s.replacesTheCA()
		s.must(m.Stop())
	}
	t.Run("self-managed", func(t *testing.T) { s.leastPrivilege(t, everybodys...) })
}

// A manager for some namespaces does with Roles alone, leaves the others as they are, and answers for
// them at admission all the same.
func TestSomeNamespaces(t *testing.T) {
	s := newSite(t, controlplane.ExternalMetrics, controlplane.HostProcesses)
	s.kubectl("", "create", "namespace", "lab")
	s.documented(t)
	s.install(controlplane.Namespaced + "/cluster")
	s.install(controlplane.Namespaced)
	role := strings.Replace(furtherKind, "kind: ClusterRole, metadata: {", "kind: Role, metadata: {namespace: shop, ", 1)
	s.kubectl(role, "apply", "-f", "-")
	s.kubectl("", "create", "rolebinding", "-n", "shop", "kyklos-replicationcontrollers", "--role=kyklos-replicationcontrollers",
		"--serviceaccount=kyklos-system:kyklos-manager")
	args := s.args(controlplane.Namespaced)
	s.scales("shop", args...)
	s.keepsHomes("shop", args...)

	m := s.manager(controlplane.ManagerOptions{Args: args})
	s.kubectl(workloads, "apply", "-n", "lab", "-f", "-")
	_, said := s.kubectl(scalers, "apply", "-n", "lab", "-f", "-")
	const unserved = `Warning: metadata.namespace: this Kyklos does not serve namespace "lab" (flag --namespaces): nothing happens here unless another Kyklos does`
	if other := strings.ReplaceAll(said, unserved+"\n", ""); strings.Contains(other, "Warning") || !strings.Contains(said, unserved) {
		t.Errorf("what nobody serves is told so, and nothing else: %s", said)
	}
	for _, namespace := range []string{"shop", "lab"} {
		_, _, err := s.cluster.Kubectl(t.Context(), scaler("strange", "example.com/v1", "Strange", 1), "apply", "-n", namespace, "-f", "-")
		if err == nil || !strings.Contains(err.Error(), "example.com/v1 has no Strange") {
			t.Errorf("%s: an unknown kind is refused everywhere, not so: %v", namespace, err)
		}
	}
	// The manager has looked at what came later in a namespace that it serves.
	s.kubectl(scaler("last", "apps/v1", "Deployment", 1), "apply", "-n", "shop", "-f", "-")
	s.awaits("shop", "tws/last", `{.status.conditions[?(@.type=="Ready")].reason}`, "TargetNotFound")
	if status, _ := s.kubectl("", "get", "tws", "-n", "lab", "-o=jsonpath={.items[*].status}"); status != "" {
		t.Errorf("a namespace that is not served has statuses: %s", status)
	}
	if replicas, _ := s.kubectl("", "get", "deployments", "-n", "lab", "-o=jsonpath={.items[*].spec.replicas}"); replicas != "0 0" {
		t.Errorf("a namespace that is not served has replicas %s", replicas)
	}
	s.must(m.Stop())
	s.leastPrivilege(t, everybodys...)
}
