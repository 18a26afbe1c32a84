package convert

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kyklos.io/kyklos/webhooks/conversion"
)

type splice struct {
	from, to int
	text     string
}

type editor struct {
	*source
	writer
	// expand replaces changed aliases and merge keys by their content. Otherwise only the anchors change.
	expand bool
	// encode are the paths of values to encode as a whole.
	encode  []string
	splices []splice
	encoded []string // the paths of all values that were encoded as a whole
}

type slot struct {
	path  string
	value *yaml.Node
	key   *yaml.Node // nil for items and the document
	flow  bool       // in flow style, within brackets
}

func (e *editor) apply() ([]byte, error) {
	// Insertions come first, in their order.
	slices.SortStableFunc(e.splices, func(a, b splice) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	var out []byte
	at := 0
	for _, s := range e.splices {
		if s.from < at {
			return nil, errUnplaced
		}
		out = append(append(out, e.text[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, e.text[at:]...), nil
}

func (e *editor) replace(from, to int, text string) {
	e.splices = append(e.splices, splice{from, to, text})
}

func (e *editor) change(at slot, before, after any) error {
	if conversion.Same(before, after) {
		return nil
	}
	if slices.Contains(e.encode, at.path) {
		return e.rewrite(at, after)
	}
	// Collections of the same shape before, after and in the text are changed in parts.
	switch b, node := before, at.value; b := b.(type) {
	case map[string]any:
		if a, ok := after.(map[string]any); ok && node.Kind == yaml.MappingNode && len(a) > 0 && len(b) > 0 {
			return e.mapping(at, b, a)
		}
	case []any:
		if a, ok := after.([]any); ok && node.Kind == yaml.SequenceNode && len(a) == len(b) && len(b) == len(node.Content) {
			return e.items(at, b, a)
		}
	default:
		if !isCollection(after) && node.Kind == yaml.ScalarNode && node.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0 {
			return e.scalarChange(at, after)
		}
	}
	if at.value.Kind == yaml.AliasNode && !e.expand {
		return nil
	}
	return e.rewrite(at, after)
}

func isCollection(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// items changes the items of a list that keeps its length and order.
func (e *editor) items(at slot, before, after []any) error {
	for i, node := range at.value.Content {
		item := slot{path: item(at.path, i), value: node, flow: at.flow || isFlow(at.value)}
		if err := e.change(item, before[i], after[i]); err != nil {
			return err
		}
	}
	return nil
}

// scalarChange replaces a scalar, and keeps its quotes and anchor.
func (e *editor) scalarChange(at slot, after any) error {
	from, err := e.content(at.value)
	if err != nil {
		return err
	}
	to, err := e.end(at.value)
	if err != nil {
		return err
	}
	text := e.scalar(after, at.value.Style)
	if at.flow {
		text = e.inline(after, at.value.Style)
	}
	if from == to { // null, as nothing after the colon or dash
		text = " " + text
	}
	e.replace(from, to, text)
	return nil
}

// rewrite encodes a value again, in block style with its key, because that determines whether it begins on the same line. Comments in
// it are lost; lostComments finds them.
func (e *editor) rewrite(at slot, after any) error {
	e.encoded = append(e.encoded, at.path)
	to, err := e.end(at.value)
	if err != nil {
		return err
	}
	from, err := e.start(at.value)
	if err != nil {
		return err
	}
	switch {
	case at.flow && !e.json:
		e.replace(from, to, e.inline(after, 0))
	case at.key == nil || e.json:
		e.replace(from, to, e.block(after, indentation(e.text[e.lineStart(from):from], e.json)))
	default:
		if from, err = e.start(at.key); err != nil {
			return err
		}
		e.replace(from, to, e.entry(at.key.Value, after, false, at.key.Column-1))
	}
	return nil
}

// indentation is the indentation of a value after the beginning of its line, or for JSON of that line.
func indentation(before []byte, json bool) int {
	if json {
		return len(before) - len(strings.TrimLeft(string(before), " "))
	}
	return len(before)
}
