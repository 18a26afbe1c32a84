package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds are the kinds of Kyklos.
var kinds = []string{"TimeWindowScaler", "Workspace"}

// hasType reports whether content has an apiVersion and a kind.
func hasType(content map[string]any) bool {
	return isSet(content, "apiVersion") && isSet(content, "kind")
}

// isSet reports whether a field has a value, of whatever type: the schema validates that.
func isSet(content map[string]any, field string) bool {
	return content[field] != nil && content[field] != ""
}

// misshapen is why a document that is meant for Kyklos is not one of its objects, and the field of the error. reason is "" for
// documents that are not meant for Kyklos.
func misshapen(content any) (field, reason string) {
	switch content := content.(type) {
	case []any:
		for _, item := range content {
			if object, ok := item.(map[string]any); ok && isMeant(object) {
				return "", "a sequence is not an object: use a List of these items, or a document for each"
			}
		}
	case map[string]any:
		if !isMeant(content) {
			return "", ""
		}
		for field, example := range map[string]string{"apiVersion": "kyklos.io/v1beta1", "kind": kinds[0]} {
			if !isSet(content, field) {
				return field, fmt.Sprintf("%s is missing: every object has one, such as %s: %s", field, field, example)
			}
		}
		if version, ok := content["apiVersion"].(string); ok {
			if parsed, err := schema.ParseGroupVersion(version); err != nil || parsed.Group != group {
				return "apiVersion", fmt.Sprintf("apiVersion %q is not a version of Kyklos: use apiVersion: kyklos.io/v1beta1", version)
			}
		}
	}
	return "", ""
}

// isMeant reports whether content is meant for Kyklos, by its group in any case, or without an apiVersion by its kind.
func isMeant(content map[string]any) bool {
	version, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	named, _, _ := strings.Cut(strings.TrimSpace(version), "/")
	return strings.EqualFold(named, group) || version == "" && slices.Contains(kinds, kind)
}

// isList reports whether the object is a List or a list of a kind. Only a strict one must contain nothing but objects: the kinds of
// others may just end in List.
func (o *Object) isList() (is, strict bool) {
	kind := o.GroupVersionKind()
	strict = kind.Kind == "List" && kind.Group == "" || kind.Group == group && strings.HasSuffix(kind.Kind, "List")
	_, hasItems := o.Object["items"].([]any)
	return strict || hasItems && strings.HasSuffix(kind.Kind, "List"), strict
}

// items are the objects of a list, which may inherit their type from it. The problem is the first item that kubectl would refuse.
func (o *Object) items() (all []*Object, problem *Problem) {
	_, strict := o.isList()
	bad := func(path, reason string) {
		if at, _ := o.Position(path); strict && problem == nil {
			problem = &Problem{File: o.File, Line: at.Line, Reason: reason}
		}
	}
	items, isSequence := o.Object["items"].([]any)
	if ownAndNone := o.GroupVersionKind().Group == group && o.Object["items"] == nil; !isSequence && !ownAndNone {
		bad("items", fmt.Sprintf("items of the %s is not a sequence of objects", o.text("kind")))
	}
	for i, item := range items {
		path := fmt.Sprintf("items[%d]", i)
		object, isObject := item.(map[string]any)
		inherits := isObject && o.text("kind") != "List" && !isSet(object, "apiVersion") && !isSet(object, "kind")
		if inherits {
			object["apiVersion"], object["kind"] = o.text("apiVersion"), strings.TrimSuffix(o.text("kind"), "List")
		}
		if !isObject || !hasType(object) {
			bad(path, path+" of the list is not an object: an object has apiVersion and kind")
			continue
		}
		one := o.item(i, object, inherits)
		if is, _ := one.isList(); is && one.text("kind") == "List" {
			bad(path, path+" of the list is a list, which kubectl does not expand: move its items into this list")
			continue
		}
		all = append(all, one)
	}
	return all, problem
}

// item is an object of the list; inherits is whether it has the list's type.
func (o *Object) item(index int, content map[string]any, inherits bool) *Object {
	one := &Object{File: o.File, Document: o.Document, Line: o.Line, Object: content}
	if o.node != nil {
		if _, list := child(o.node, "items"); list != nil {
			_, one.node = child(list, fmt.Sprint(index))
		}
	}
	if one.node == nil {
		one.Raw, _ = json.Marshal(content)
		return one
	}
	one.Line = one.node.Line
	written := *one.node
	if inherits && written.Kind == yaml.MappingNode {
		var typed yaml.Node
		_ = typed.Encode(map[string]string{"apiVersion": one.text("apiVersion"), "kind": one.text("kind")}) // strings cannot fail
		written.Content = append(typed.Content, written.Content...)
	}
	one.Raw, _ = yaml.Marshal(&written) // keeps duplicate keys
	return one
}
