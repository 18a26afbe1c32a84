package admission

import (
	"encoding/json"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// Patches are what the defaulting webhook of a kind adds to an object, as JSON in any of the kind's versions, that is
// written in namespace. Other kinds have no webhook.
func Patches(kind schema.GroupKind, raw []byte, namespace string) []jsonpatch.JsonPatchOperation {
	switch kind {
	case v1beta1.GroupKind:
		return timeWindowScalerPatches(raw, namespace)
	case targetkind.Workspace.GroupKind():
		return workspacePatches(raw)
	}
	return nil
}

// timeWindowScalerPatches name spec.targetRef.namespace, where it is left out.
func timeWindowScalerPatches(raw []byte, namespace string) []jsonpatch.JsonPatchOperation {
	var object struct {
		Spec struct {
			TargetRef map[string]any `json:"targetRef"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &object); err != nil || object.Spec.TargetRef == nil {
		return nil // not even an object: the schema refuses it, in better words
	}
	if given := object.Spec.TargetRef["namespace"]; given != nil && given != "" {
		return nil
	}
	return []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", "/spec/targetRef/namespace", namespace)}
}

// workspacePatches name the amounts that are missing in spec.resources.
func workspacePatches(raw []byte) []jsonpatch.JsonPatchOperation {
	var object struct {
		Spec struct {
			Resources *v1alpha1.Resources `json:"resources"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &object); err != nil || object.Spec.Resources == nil {
		return nil // the schema refuses it in better words, or has a default of its own
	}
	return resourcePatches(*object.Spec.Resources)
}
