package ruleset

import (
	"strings"
	"testing"
)

// rollouts is a definition of a further kind with a scale subresource whose count has a place of its own.
const rollouts = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rollouts.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Rollout, plural: rollouts}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
    subresources: {scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
  - name: v2
    served: true
    schema: {openAPIV3Schema: {type: object}}
`

// of is a scaler whose target is of another kind.
func of(apiVersion, kind, name string) string {
	return strings.Replace(scaler("office", name), "kind: Deployment", "kind: "+kind+"\n    apiVersion: "+apiVersion, 1)
}

func TestKindsOfTargets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files []string
		want  []string
	}{
		"a kind that only a cluster knows":      {files: []string{of("example.com/v1", "Rollout", "web")}},
		"a kind that the set defines":           {files: []string{rollouts, of("example.com/v1", "Rollout", "web")}},
		"a kind that is built in and has scale": {files: []string{of("v1", "ReplicationController", "web")}},
		"Kyklos's own, which it turns on and off": {files: []string{of("kyklos.io/v1alpha1", "Workspace", "web")}, want: []string{
			"a.yaml:12:20 warning warned spec.defaultReplicas: 2 has the same effect as 1: 0 stops a Workspace, and any other number starts it",
			"a.yaml:13:67 warning warned spec.windows[0].replicas: 10 has the same effect as 1: 0 stops a Workspace, and any other number starts it",
		}},
		"a version without scale": {files: []string{rollouts, of("example.com/v2", "Rollout", "web")}, want: []string{
			`b.yaml:8:11 error target-kind spec.targetRef.kind: Invalid value: "Rollout": Rollout of example.com/v2 cannot be scaled: it has no scale subresource, through which a replica count is set`,
		}},
		"a version that there is not": {files: []string{rollouts, of("example.com/v3", "Rollout", "web")}, want: []string{
			`b.yaml:9:17 error target-kind spec.targetRef.apiVersion: Invalid value: "example.com/v3": example.com/v3 has no Rollout; example.com/v1 has: set apiVersion to example.com/v1`,
		}},
		"a kind without scale": {files: []string{of("v1", "Pod", "web")}, want: []string{
			`a.yaml:8:11 error target-kind spec.targetRef.kind: Invalid value: "Pod": Pod of v1 cannot be scaled: it has no scale subresource, through which a replica count is set`,
		}},
		"a kind without scale of a group that others may add to": {files: []string{of("networking.k8s.io/v1", "Ingress", "web")}, want: []string{
			`a.yaml:8:11 error target-kind spec.targetRef.kind: Invalid value: "Ingress": Ingress of networking.k8s.io/v1 cannot be scaled: it has no scale subresource, through which a replica count is set`,
		}},
		"what others may have added":             {files: []string{of("networking.k8s.io/v1", "Egress", "web")}},
		"a version that other clusters may have": {files: []string{of("networking.k8s.io/v1beta1", "Ingress", "web")}},
		"a kind without namespace": {files: []string{of("v1", "Node", "web")}, want: []string{
			`a.yaml:8:11 error target-kind spec.targetRef.kind: Invalid value: "Node": Node of v1 cannot be scaled: its objects are in no namespace, and a target is in the TimeWindowScaler's own`,
		}},
		"a kind that no cluster has": {files: []string{of("batch/v1", "Cron", "web")}, want: []string{
			`a.yaml:8:11 error target-kind spec.targetRef.kind: Invalid value: "Cron": batch/v1 has no Cron: correct apiVersion and kind`,
		}},
		"a kind of another group": {files: []string{of("batch/v1", "Deployment", "web")}, want: []string{
			`a.yaml:9:17 error target-kind spec.targetRef.apiVersion: Invalid value: "batch/v1": batch/v1 has no Deployment; apps/v1 has: set apiVersion to apps/v1`,
		}},
		"the count of a target where its definition says": {
			files: []string{rollouts, of("example.com/v1", "Rollout", "web"), "apiVersion: example.com/v1\nkind: Rollout\nmetadata: {namespace: shop, name: web}\nspec:\n  replicas: 1\n  size: 4\n"},
			want: []string{`c.yaml:6:9 warning target-sets-replicas spec.size: TimeWindowScaler "office" (b.yaml:5) scales this Rollout: ` +
				`applying this manifest with kubectl or Argo CD resets it to 4; remove the field (see docs/gitops.md)`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, lintFiles(t, tc.files, nil), tc.want...)
		})
	}
}
