package convert

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/webhooks/conversion"
)

// explain says what v1alpha1 cannot say of an object at a path, field by field. before is v1beta1, after what the webhook shows
// of it to a client of v1alpha1 (docs/conversion.md).
func (c *documentConversion) explain(root *yaml.Node, path string, before, after map[string]any) {
	spec, shown := before["spec"], after["spec"]
	told := len(c.notes)
	c.differences(root, join(path, "spec"), "spec", spec, shown)
	if len(c.notes) > told {
		c.note(lineOf(root, path), "TimeWindowScaler %s keeps what v1alpha1 cannot say in the annotation %s: leave that as it is", nameOf(before), conversion.Annotation)
	}
	// The rules of v1alpha1 let such a target stay, and refuse it in a new object (ratcheting).
	target, _ := field(spec, "targetRef").(map[string]any)
	kind, _ := target["kind"].(string)
	version, hasVersion := target["apiVersion"].(string)
	if kind != "" && (kind != "Deployment" || hasVersion && version != "apps/v1") {
		c.note(lineOf(root, join(path, "spec.targetRef.kind")), "spec.targetRef: v1alpha1 takes no target but a Deployment: a %s can stay in an object that has it, and a new object with it is refused", kind)
	}
}

// differences says what becomes of the fields below path; name is the path within the object.
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
					c.note(lineOf(root, join(path, key)), "%s is left out: v1alpha1 has no such field", join(name, key))
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
		reason = ", a minute early: v1alpha1 has no end of a whole day"
	case "00:00":
		reason = ", which means the same"
	}
	c.note(lineOf(root, path), "%s: %s becomes %s%s", name, plain(before), plain(after), reason)
}

// plain writes a value for people: text without quotes.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return toJSON(value)
}

// lineOf is the line of a field, or of what is nearest around it; from 1, and 1 for a text that YAML's reader for
// positions cannot read.
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

// pathName is how people call what is at a path.
func pathName(path string) string {
	if path == "" {
		return "the document"
	}
	return path
}

// field is a field of an object; nil if it has none, or is no object.
func field(object any, name string) any {
	fields, _ := object.(map[string]any)
	return fields[name]
}

// nameOf is the name by which people know an object.
func nameOf(object map[string]any) string {
	name, _ := field(object["metadata"], "name").(string)
	if name == "" {
		return "without a name"
	}
	return name
}
