package convert

import "encoding/json"

// writeOut adds what v1alpha1 means if it is left out, and v1beta1 requires.
func (c *documentConversion) writeOut(path string, after map[string]any) {
	spec, isObject := after["spec"].(map[string]any)
	if !isObject || spec["defaultReplicas"] != nil {
		return
	}
	spec["defaultReplicas"] = json.Number("0")
	c.note(lineOf(c.root, join(path, "spec")), "spec.defaultReplicas: 0 is written out: v1beta1 has no default for it")
}
