package apiserver

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// repeat is a key that a mapping has had before: its path, its name and the line of its value.
type repeat struct {
	path, key string
	line      int
}

// twice are the errors in what the YAML reader says of keys that are there twice: one for each of its lines, which name
// the key and the line of its value. The paths come from another reader of the same text.
func twice(message string, text []byte) (all []Refusal) {
	var repeats []repeat
	var root yaml.Node
	if yaml.Unmarshal(text, &root) == nil && len(root.Content) > 0 {
		repeats = repeated(root.Content[0], nil)
	}
	for _, match := range ofKey.FindAllStringSubmatch(message, -1) {
		_, said, _ := strings.Cut(match[0], ": ")
		e := Refusal{Rule: DuplicateField, Message: said}
		line, _ := strconv.Atoi(match[1])
		if i := slices.IndexFunc(repeats, func(r repeat) bool { return strconv.Quote(r.key) == `"`+match[2]+`"` && r.line == line }); i >= 0 {
			e.Field = repeats[i].path
			repeats = slices.Delete(repeats, i, i+1)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return []Refusal{{Rule: DuplicateField, Message: message}}
	}
	return all
}

func repeated(node *yaml.Node, path *field.Path) (all []repeat) {
	switch node.Kind {
	case yaml.SequenceNode:
		for i, item := range node.Content {
			all = append(all, repeated(item, path.Index(i))...)
		}
	case yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i].Value, node.Content[i+1]
			at := path.Child(key)
			if seen[key] {
				all = append(all, repeat{at.String(), key, value.Line})
			}
			seen[key] = true
			all = append(all, repeated(value, at)...)
		}
	}
	return all
}
