package apiserver

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/cli/lint"
)

// duplicate is a key that its mapping already has: its path, its name and the line of its value.
type duplicate struct {
	path, key string
	line      int
}

// duplicateKeys parses the YAML decoder's message, which names key and line of each duplicate. The paths come from
// another decoder.
func duplicateKeys(message string, text []byte) (all []Error) {
	var duplicates []duplicate
	var root yaml.Node
	if yaml.Unmarshal(text, &root) == nil && len(root.Content) > 0 {
		duplicates = findDuplicates(root.Content[0], nil)
	}
	for _, match := range duplicateKey.FindAllStringSubmatch(message, -1) {
		_, text, _ := strings.Cut(match[0], ": ")
		e := Error{Rule: lint.DuplicateField, Message: text}
		line, _ := strconv.Atoi(match[1])
		if i := slices.IndexFunc(duplicates, func(d duplicate) bool { return strconv.Quote(d.key) == `"`+match[2]+`"` && d.line == line }); i >= 0 {
			e.Field = duplicates[i].path
			duplicates = slices.Delete(duplicates, i, i+1)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return []Error{{Rule: lint.DuplicateField, Message: message}}
	}
	return all
}

func findDuplicates(node *yaml.Node, path *field.Path) (all []duplicate) {
	switch node.Kind {
	case yaml.SequenceNode:
		for i, item := range node.Content {
			all = append(all, findDuplicates(item, path.Index(i))...)
		}
	case yaml.MappingNode:
		seen := map[string]bool{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i].Value, node.Content[i+1]
			at := path.Child(key)
			if seen[key] {
				all = append(all, duplicate{at.String(), key, value.Line})
			}
			seen[key] = true
			all = append(all, findDuplicates(value, at)...)
		}
	}
	return all
}
