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
	// Length is the number of characters that the place takes on its line, at least 1.
	Length int
}

// Position is where the object says what path is about, a field path of the API's libraries such as
// spec.windows[1].days[0] or metadata.labels[app.kubernetes.io/name]: the value, or the key of a value that goes over several
// lines, and where the object does not say it, what is nearest around it. ok is false if the path was not there to
// its end.
func (o *Object) Position(path string) (at Position, ok bool) {
	if o.node == nil {
		return Position{Line: max(o.Line, 1), Column: 1, Length: 1}, false
	}
	key, value, ok := o.find(path)
	return span(key, value), ok
}

// KeyPosition is where the name of the field at path stands; for what has no name, as an item of a list, it is Position.
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

// find follows path from the object's mapping, which must be known, as far as it leads; ok says whether to its end.
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

// span is the place of a scalar value; of anything greater it is that of the key, which is on one line.
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

// child is the key and the value that step leads to; value is nil if there is none. Of equal keys, the last counts, as
// it does for the API server. What an alias stands for is where its anchor is: that is the text to change.
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
		for i := 0; i+1 < len(parent.Content); i += 2 { // a merge key's fields are the object's too
			if parent.Content[i].Tag == "!!merge" {
				return child(parent.Content[i+1], step)
			}
		}
	}
	return nil, nil
}

// Steps takes a field path apart: spec.windows[1].days[0] is spec, windows, 1, days, 0, and what stands in brackets is one
// step, dots and all. The root, "" or "<nil>", has none.
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
