package manifest

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Position is a place in a file. Line and Column count from 1, Column in characters.
type Position struct {
	Line, Column int
	// Length is the number of characters, at least 1.
	Length int
}

// Position is the position of a field path such as spec.windows[1].days[0] or metadata.labels[app.kubernetes.io/name]: the value, or
// the key of a value of several lines. ok is false if the path does not exist; then it is the position of the nearest parent.
func (o *Object) Position(path string) (at Position, ok bool) {
	if o.node == nil {
		return Position{Line: max(o.Line, 1), Column: 1, Length: 1}, false
	}
	key, value, ok := o.find(path)
	return span(key, value), ok
}

// KeyPosition is the position of the key at a path, or Position for an item of a list.
func (o *Object) KeyPosition(path string) (at Position, ok bool) {
	if o.node == nil {
		return o.Position(path)
	}
	key, value, ok := o.find(path)
	if ok && key != nil {
		return span(nil, key), true
	}
	return span(key, value), ok
}

// Node is the value at a field path as it is written, nil if there is none.
func (o *Object) Node(path string) *yaml.Node {
	if o.node == nil {
		return nil
	}
	_, value, ok := o.find(path)
	if !ok {
		return nil
	}
	if value.Kind == yaml.AliasNode {
		return value.Alias
	}
	return value
}

// find follows a path from the object's mapping, which must not be nil, as far as possible.
func (o *Object) find(path string) (key, value *yaml.Node, ok bool) {
	value = o.node
	for _, step := range Steps(path) {
		k, v := child(value, step)
		if v == nil {
			return key, value, false
		}
		key, value = k, v
	}
	return key, value, true
}

// span is the position of a scalar, or of the key of another value.
func span(key, value *yaml.Node) Position {
	node := value
	if value.Kind != yaml.ScalarNode && value.Kind != yaml.AliasNode && key != nil {
		node = key
	}
	length := utf8.RuneCountInString(node.Value)
	switch {
	case node.Kind == yaml.AliasNode:
		length++
	case node.Kind != yaml.ScalarNode, node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		length = 1
	case node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		length += 2
	}
	return Position{Line: node.Line, Column: node.Column, Length: max(length, 1)}
}

// child is the key and value of a step, nil if there is none. The last of equal keys counts, as for the API server. For an alias it is
// the text at the anchor.
func child(parent *yaml.Node, step string) (key, value *yaml.Node) {
	if parent.Kind == yaml.AliasNode {
		parent = parent.Alias
	}
	switch parent.Kind {
	case yaml.SequenceNode:
		if index, err := strconv.Atoi(step); err == nil && index >= 0 && index < len(parent.Content) {
			return nil, parent.Content[index]
		}
	case yaml.MappingNode:
		for i := len(parent.Content) - 2; i >= 0; i -= 2 {
			if parent.Content[i].Value == step {
				return parent.Content[i], parent.Content[i+1]
			}
		}
		for i := 0; i+1 < len(parent.Content); i += 2 { // fields of a merge key
			if parent.Content[i].Tag == "!!merge" {
				return child(parent.Content[i+1], step)
			}
		}
	}
	return nil, nil
}

// Steps splits a field path: spec.windows[1].days[0] is spec, windows, 1, days, 0. Brackets are one step, including their dots. The
// root, "" or "<nil>", has none.
func Steps(path string) []string {
	if path == "<nil>" {
		return nil
	}
	var steps []string
	for rest := path; rest != ""; {
		if rest[0] == '[' {
			end := cmp.Or(max(strings.IndexByte(rest, ']'), 0), len(rest))
			steps = append(steps, rest[1:end])
			rest = strings.TrimPrefix(rest[end:], "]")
			continue
		}
		rest = strings.TrimPrefix(rest, ".")
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end > 0 {
			steps = append(steps, rest[:end])
		}
		rest = rest[end:]
	}
	return steps
}
