package convert

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kyklos.io/kyklos/webhooks/conversion"
)

// splice replaces a stretch of the text.
type splice struct {
	from, to int
	text     string
}

// editor collects the splices that make a text say something else.
type editor struct {
	*source
	writer
	// expand replaces aliases by what they stand for, and mappings that merge others by what they are
	// merged to. Without it, what goes through one is left to the change of its anchor.
	expand bool
	// anew are the paths of what is written anew as a whole.
	anew    []string
	splices []splice
	// rewritten are the paths of what was written anew.
	rewritten []string
}

// slot is where a value stands.
type slot struct {
	path  string
	value *yaml.Node
	key   *yaml.Node // nil for items and the document
	flow  bool       // within brackets
}

// apply is the text with all splices.
func (e *editor) apply() ([]byte, error) {
	// Where one begins with an insertion, that comes first. Two insertions stay in their order.
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

// change makes what stands in a slot say after in place of before.
func (e *editor) change(at slot, before, after any) error {
	if conversion.Same(before, after) {
		return nil
	}
	if slices.Contains(e.anew, at.path) {
		return e.rewrite(at, after)
	}
	// Only what has the same shape before, after and in the text can be changed piece by piece.
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

// isCollection reports whether a value is an object or a list.
func isCollection(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// items changes the items of a list that keeps its length: conversion moves none.
func (e *editor) items(at slot, before, after []any) error {
	for i, node := range at.value.Content {
		item := slot{path: item(at.path, i), value: node, flow: at.flow || isFlow(at.value)}
		if err := e.change(item, before[i], after[i]); err != nil {
			return err
		}
	}
	return nil
}

// scalarChange replaces a scalar and keeps its quotes, its anchor and what is beside it.
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
	if from == to { // null, written as nothing behind the colon or dash
		text = " " + text
	}
	e.replace(from, to, text)
	return nil
}

// rewrite writes a value anew. A value of a key in block style is written with its key: whether it begins on the same line
// depends on what it is. Comments within it go; lostComments finds them.
func (e *editor) rewrite(at slot, after any) error {
	e.rewritten = append(e.rewritten, at.path)
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

// indentation is how far what follows a beginning of a line is indented: where that begins, or for JSON
// where its line does.
func indentation(before []byte, json bool) int {
	if json {
		return len(before) - len(strings.TrimLeft(string(before), " "))
	}
	return len(before)
}
