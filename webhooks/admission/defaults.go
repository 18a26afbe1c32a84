package admission

import (
	"encoding/json"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// Patches are what the defaulting webhook adds to an object of any version, given as JSON and written to
// namespace; none for kinds without a webhook. old is the object that is updated, nil on create. They touch no
// list: GitOps tools would report the object out of sync forever (A5).
func Patches(kind schema.GroupKind, raw, old []byte, namespace string) []jsonpatch.JsonPatchOperation {
	var object struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return nil // the schema refuses it with a better message
	}
	switch kind {
	case v1beta1.GroupKind:
		var target map[string]any
		if json.Unmarshal(object.Spec["targetRef"], &target) != nil || target == nil {
			return nil
		}
		if given := target["namespace"]; (given == nil || given == "") && !storedWithoutNamespace(old) {
			return []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", "/spec/targetRef/namespace", namespace)}
		}
	case targetkind.Workspace.GroupKind():
		var resources *v1alpha1.Resources
		if json.Unmarshal(object.Spec["resources"], &resources) == nil && resources != nil {
			return append(fractionPatches(object.Spec["resources"]), resourcePatches(*resources)...)
		}
	}
	return nil
}

// storedWithoutNamespace reports that an object was stored while the webhook was away. It stays as it is: a change of
// targetRef would make the API server check a target that it otherwise leaves alone (A4), and refuse any edit.
func storedWithoutNamespace(old []byte) bool {
	var object struct {
		Spec struct {
			TargetRef *struct {
				Namespace string `json:"namespace"`
			} `json:"targetRef"`
		} `json:"spec"`
	}
	return json.Unmarshal(old, &object) == nil && object.Spec.TargetRef != nil && object.Spec.TargetRef.Namespace == ""
}

// The defaults of a Workspace's resources, as in its schema.
var (
	defaultRequests = v1alpha1.ResourceList{"cpu": "500m", "memory": "512Mi"}
	defaultLimits   = v1alpha1.ResourceList{"cpu": "2", "memory": "4Gi"}
	defaulted       = []string{"cpu", "memory"} // the order of the patches
)

// resourcePatches add what is missing without contradicting what is there: a request is at most its limit,
// and a limit at least its request. Limits are left alone if given, even if empty: a container without a
// limit may be intended. Without a request Kubernetes would use the limit, and reserve the maximum.
func resourcePatches(given v1alpha1.Resources) []jsonpatch.JsonPatchOperation {
	if !valid(given.Requests) || !valid(given.Limits) {
		return nil // the schema refuses it
	}
	var patches []jsonpatch.JsonPatchOperation
	add := func(path string, value any) {
		patches = append(patches, jsonpatch.NewOperation("add", "/spec/resources/"+path, value))
	}
	limits := given.Limits
	if limits == nil {
		limits = v1alpha1.ResourceList{}
		for _, name := range defaulted {
			limits[name] = defaultLimits[name]
			if request, ok := given.Requests[name]; ok && above(request, limits[name]) {
				limits[name] = request
			}
		}
		add("limits", limits)
	}
	missing := v1alpha1.ResourceList{}
	for _, name := range defaulted {
		if _, ok := given.Requests[name]; ok {
			continue
		}
		missing[name] = defaultRequests[name]
		if limit, ok := limits[name]; ok && above(missing[name], limit) {
			missing[name] = limit
		}
		if given.Requests != nil {
			add("requests/"+name, missing[name])
		}
	}
	if given.Requests == nil {
		add("requests", missing)
	}
	return patches
}

func valid(amounts v1alpha1.ResourceList) bool {
	for _, amount := range amounts {
		if _, err := resource.ParseQuantity(string(amount)); err != nil {
			return false
		}
	}
	return true
}

// above compares two valid amounts.
func above(a, b v1alpha1.Quantity) bool {
	first, second := resource.MustParse(string(a)), resource.MustParse(string(b))
	return first.Cmp(second) > 0
}
