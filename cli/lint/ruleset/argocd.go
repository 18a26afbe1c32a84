package ruleset

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/internal/targetkind"
)

var application = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

// checkApplication warns about an Argo CD Application that ignores replicas but resets them (docs/gitops.md). One
// that does not mention Kyklos may ignore them because of others, unless the set has scalers.
func (r *run) checkApplication(m *member) {
	if m.at.GroupKind != application {
		return
	}
	ignored, _, _ := unstructured.NestedSlice(m.object.Object, "spec", "ignoreDifferences")
	options, _, _ := unstructured.NestedStringSlice(m.object.Object, "spec", "syncPolicy", "syncOptions")
	respected := slices.Contains(options, "RespectIgnoreDifferences=true")
	for i, entry := range ignored {
		settings, _ := entry.(map[string]any)
		pointers, _, _ := unstructured.NestedStringSlice(settings, "jsonPointers")
		managers, _, _ := unstructured.NestedStringSlice(settings, "managedFieldsManagers")
		pointed := slices.Contains(pointers, "/spec/replicas") && len(r.inventory.scalers) > 0
		managed := slices.Contains(managers, targetkind.FieldManager)
		switch {
		case (pointed || managed) && !respected:
			m.add(lint.Warning, lint.ArgoCDReplicas, "spec.syncPolicy.syncOptions",
				"replicas are ignored when Argo CD compares, but reset when it syncs for another reason: add RespectIgnoreDifferences=true (see docs/gitops.md)")
			return // applies to all entries
		case managed && !slices.Contains(pointers, "/spec/replicas") && !slices.Contains(options, "ServerSideApply=true"):
			m.add(lint.Warning, lint.ArgoCDReplicas, fmt.Sprintf("spec.ignoreDifferences[%d].managedFieldsManagers", i),
				"removing replicas from Git scales the workload to 1: use jsonPointers with /spec/replicas instead (see docs/gitops.md)")
		}
	}
}
