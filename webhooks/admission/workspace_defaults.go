package admission

import (
	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/api/resource"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// The amounts of a Workspace that says nothing of them, as in its schema.
var (
	defaultRequests = v1alpha1.ResourceList{"cpu": "500m", "memory": "512Mi"}
	defaultLimits   = v1alpha1.ResourceList{"cpu": "2", "memory": "4Gi"}
)

// defaulted are the resources that have a default, in the order of patches.
var defaulted = []string{"cpu", "memory"}

// resourcePatches add what is missing in given, so that it never contradicts what is there: a request is
// at most its limit, and a limit at least its request. Limits are left alone once there is a list of
// them, an empty one too: a container without a limit may be meant. A missing request would become
// the limit (Kubernetes' own default), and reserve the most that the container may ever use.
func resourcePatches(given v1alpha1.Resources) []jsonpatch.JsonPatchOperation {
	if !readable(given.Requests) || !readable(given.Limits) {
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

func readable(amounts v1alpha1.ResourceList) bool {
	for _, amount := range amounts {
		if _, err := resource.ParseQuantity(string(amount)); err != nil {
			return false
		}
	}
	return true
}

// above compares two readable amounts.
func above(a, b v1alpha1.Quantity) bool {
	first, second := resource.MustParse(string(a)), resource.MustParse(string(b))
	return first.Cmp(second) > 0
}
