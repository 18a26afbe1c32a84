package ruleset

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/cli/lint"
)

// application is what Argo CD syncs.
var application = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

// kyklosManager is the name under which Kyklos writes replicas, in managedFields.
const kyklosManager = "kyklos-controller"

// ignoresReplicas warns of an Application of Argo CD that ignores replicas and yet sets them back (docs/gitops.md,
// What goes wrong). One that does not speak of Kyklos may ignore them for others, unless there are scalers.
func (r *run) ignoresReplicas(m *member) {
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
		managed := slices.Contains(managers, kyklosManager)
		switch {
		case (pointed || managed) && !respected:
			m.add(lint.Warning, lint.ArgoCDReplicas, "spec.syncPolicy.syncOptions",
				"replicas are ignored when Argo CD compares, but set back when it syncs for another reason: add RespectIgnoreDifferences=true, as docs/gitops.md shows")
			return // it is about all entries
		case managed && !slices.Contains(pointers, "/spec/replicas") && !slices.Contains(options, "ServerSideApply=true"):
			m.add(lint.Warning, lint.ArgoCDReplicas, fmt.Sprintf("spec.ignoreDifferences[%d].managedFieldsManagers", i),
				"when replicas are taken out of Git, the workload drops to 1: give jsonPointers with /spec/replicas, as docs/gitops.md shows")
		}
	}
}
