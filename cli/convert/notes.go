package convert

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// noteLosses notes what v1alpha1 cannot express, field by field. before is v1beta1, after what the webhook returns to a client of
// v1alpha1 (docs/conversion.md).
func (c *documentConversion) noteLosses(root *yaml.Node, path string, before, after map[string]any) {
	spec, shown := before["spec"], after["spec"]
	known := len(c.notes)
	c.differences(root, join(path, "spec"), "spec", spec, shown)
	if len(c.notes) > known {
		c.note(lineOf(root, path), "TimeWindowScaler %s keeps what v1alpha1 cannot express in the annotation %s: do not edit it", nameOf(before), conversion.Annotation)
	}
	// v1alpha1 keeps such a target in existing objects, and refuses it in new ones (ratcheting).
	target, _ := field(spec, "targetRef").(map[string]any)
	kind, _ := target["kind"].(string)
	version, hasVersion := target["apiVersion"].(string)
	if kind != "" && (kind != "Deployment" || hasVersion && version != "apps/v1") {
		c.note(lineOf(root, join(path, "spec.targetRef.kind")), "spec.targetRef: v1alpha1 supports Deployments only: a %s is kept in existing objects, but refused in new ones", kind)
	}
}

// differences notes the changes of the fields below path; name is the path within the object.
func (c *documentConversion) differences(root *yaml.Node, path, name string, before, after any) {
	if conversion.Same(before, after) {
		return
	}
	switch b := before.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok {
			for _, key := range names(b) {
				if now, stays := a[key]; stays {
					c.differences(root, join(path, key), join(name, key), b[key], now)
				} else {
					c.note(lineOf(root, join(path, key)), "%s is removed: v1alpha1 does not have this field", join(name, key))
				}
			}
			return
		}
	case []any:
		if a, ok := after.([]any); ok && len(a) == len(b) {
			for i := range b {
				c.differences(root, item(path, i), item(name, i), b[i], a[i])
			}
			return
		}
	}
	reason := ""
	switch after {
	case "23:59":
		reason = ", a minute early: v1alpha1 does not support 24:00"
	case "00:00":
		reason = ", which is equivalent"
	}
	c.note(lineOf(root, path), "%s: %s becomes %s%s", name, plain(before), plain(after), reason)
}

// plain is a value for people, strings without quotes.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return toJSON(value)
}

// lineOf is the line of a field or of its nearest parent, from 1, and 1 without a root.
func lineOf(root *yaml.Node, path string) int {
	line, at := 0, root
	if root == nil {
		return 1
	}
	line = root.Line
	for _, step := range manifest.Steps(path) {
		if at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		switch at.Kind {
		case yaml.MappingNode:
			one := named(entries(at), step)
			if one == nil {
				return line
			}
			line, at = one.key.Line, one.value
		case yaml.SequenceNode:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at.Content) {
				return line
			}
			at = at.Content[i]
			line = at.Line
		default:
			return line
		}
	}
	return line
}

// join and item are the paths of a field and of an item, as the API server writes them.
func join(path, name string) string {
	switch {
	case path == "":
		return name
	case strings.ContainsAny(name, ".["):
		return path + "[" + name + "]"
	}
	return path + "." + name
}

func item(path string, index int) string { return fmt.Sprintf("%s[%d]", path, index) }

func pathName(path string) string {
	if path == "" {
		return "the document"
	}
	return path
}

// field is a field of an object, nil if there is none.
func field(object any, name string) any {
	fields, _ := object.(map[string]any)
	return fields[name]
}

func nameOf(object map[string]any) string {
	name, _ := field(object["metadata"], "name").(string)
	if name == "" {
		return "without a name"
	}
	return name
}
