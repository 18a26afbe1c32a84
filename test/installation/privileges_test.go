package installation

import (
	"fmt"
	"testing"

	"kyklos.io/kyklos/test/controlplane"
)

// everybodys is what the manager does by the rights that every authenticated user has.
var everybodys = []string{"create authorization.k8s.io/selfsubjectaccessreviews", "get /readyz", "get discovery"}

// furtherKind is what docs/targets.md tells to grant for a further kind, here for all namespaces.
const furtherKind = `
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: kyklos-replicationcontrollers, labels: {kyklos.io/aggregate-to-manager: "true"}}, rules: [
  {apiGroups: [""], resources: [replicationcontrollers], verbs: [get, list, watch]},
  {apiGroups: [""], resources: [replicationcontrollers/scale], verbs: [get, patch]}]}
`

// The manager does all that it may and tries nothing else.
func TestLeastPrivilegeWithSelfManagedCertificates(t *testing.T) {
	s := newSite(t, controlplane.SelfManaged, controlplane.ExternalMetrics)
	s.kubectl(furtherKind, "apply", "-f", "-")
	s.scales("default")
	metrics, err := controlplane.FreePort()
	s.must(err)
	m := s.manager(controlplane.ManagerOptions{Args: []string{"--metrics-secure", fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", metrics)}})
	s.guardsMetrics(metrics)
	s.migrates()
	s.replacesTheCA()
	s.must(m.Stop())
	s.leastPrivilege(t, everybodys...)
}
