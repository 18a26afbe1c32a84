package manifest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds are Kyklos's.
var kinds = []string{"TimeWindowScaler", "Workspace"}

// hasType reports whether content says what it is, as every object does.
func hasType(content map[string]any) bool {
	return says(content, "apiVersion") && says(content, "kind")
}

// says reports whether a field holds anything. Of another type it does: the schema says what is wrong with it.
func says(content map[string]any, field string) bool {
	return content[field] != nil && content[field] != ""
}

// misshapen is why a document is no object, or none of Kyklos's, though it is meant to be, and the field that this is about. kubectl
// refuses every document that is no object; those that do not speak of Kyklos are other programs' business, and reason is "".
func misshapen(content any) (field, reason string) {
	switch content := content.(type) {
	case []any:
		for _, item := range content {
			if object, ok := item.(map[string]any); ok && isMeant(object) {
				return "", "a sequence is no object: give a List with these items, or a document for each"
			}
		}
	case map[string]any:
		if !isMeant(content) {
			return "", ""
		}
		for field, example := range map[string]string{"apiVersion": "kyklos.io/v1beta1", "kind": kinds[0]} {
			if !says(content, field) {
				return field, fmt.Sprintf("%s is missing: an object says what it is, as in %s: %s", field, field, example)
			}
		}
		if version, ok := content["apiVersion"].(string); ok {
			if parsed, err := schema.ParseGroupVersion(version); err != nil || parsed.Group != group {
				return "apiVersion", fmt.Sprintf("apiVersion %q is none of Kyklos's: give it as in apiVersion: kyklos.io/v1beta1", version)
			}
		}
	}
	return "", ""
}

// isMeant reports whether content is meant for Kyklos, by its group as anybody may write it, or without one by its kind.
func isMeant(content map[string]any) bool {
	version, _ := content["apiVersion"].(string)
	kind, _ := content["kind"].(string)
	named, _, _ := strings.Cut(strings.TrimSpace(version), "/")
	return strings.EqualFold(named, group) || version == "" && slices.Contains(kinds, kind)
}

// isList reports whether the object is a List, of any kind or of one, and whether it is one that must hold objects and nothing else: others
// may be called so without being any.
func (o *Object) isList() (is, strict bool) {
	kind := o.GroupVersionKind()
	strict = kind.Kind == "List" && kind.Group == "" || kind.Group == group && strings.HasSuffix(kind.Kind, "List")
	_, hasItems := o.Object["items"].([]any)
	return strict || hasItems && strings.HasSuffix(kind.Kind, "List"), strict
}

// items are the objects of a list. Those of a list of one kind need not say theirs. The problem is the first item that
// kubectl would not take.
func (o *Object) items() (all []*Object, problem *Problem) {
	_, strict := o.isList()
	bad := func(path, reason string) {
		if at, _ := o.Position(path); strict && problem == nil {
			problem = &Problem{File: o.File, Line: at.Line, Reason: reason}
		}
	}
	items, isSequence := o.Object["items"].([]any)
	if ownAndNone := o.GroupVersionKind().Group == group && o.Object["items"] == nil; !isSequence && !ownAndNone {
		bad("items", fmt.Sprintf("items of the %s is no sequence of objects", o.text("kind")))
	}
	for i, item := range items {
		path := fmt.Sprintf("items[%d]", i)
		object, isObject := item.(map[string]any)
		inherits := isObject && o.text("kind") != "List" && !says(object, "apiVersion") && !says(object, "kind")
		if inherits {
			object["apiVersion"], object["kind"] = o.text("apiVersion"), strings.TrimSuffix(o.text("kind"), "List")
		}
		if !isObject || !hasType(object) {
			bad(path, path+" of the list is no object: an object has apiVersion and kind")
			continue
		}
		one := o.item(i, object, inherits)
		if is, _ := one.isList(); is && one.text("kind") == "List" {
			bad(path, path+" of the list is a list itself, which kubectl does not look into: put its items into this one")
			continue
		}
		all = append(all, one)
	}
	return all, problem
}

// item is an object of the list; inherits says that it has its type from there.
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
		_ = typed.Encode(map[string]string{"apiVersion": one.text("apiVersion"), "kind": one.text("kind")}) // of texts, it does not fail
		written.Content = append(typed.Content, written.Content...)
	}
	one.Raw, _ = yaml.Marshal(&written) // keeps keys that are there twice
	return one
}
