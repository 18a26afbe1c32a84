package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"kyklos.io/kyklos/webhooks/conversion"
)

type rewriting struct {
	text []byte
	// encoded are the paths of values that were encoded again, "" for the whole document.
	encoded []string
}

// rewrite changes a document from before to after with the smallest edit that works: first of single values, then also of aliases and
// merge keys, then of whole objects, then of the whole document. Each attempt is parsed as the API server does. objects are the paths
// of the objects.
func rewrite(text []byte, before, after any, objects []string) (rewriting, error) {
	w := writer{json: json.Valid(text), oneLine: !bytes.ContainsAny(bytes.TrimSpace(text), "\r\n")}
	if root := parse(text); root != nil {
		// A failed attempt is not an error: the position of some YAML nodes cannot be determined.
		for _, e := range []*editor{{}, {expand: true}, {encode: objects}} {
			e.source = newSource(text)
			e.writer = w
			e.newline = e.ending
			if e.change(slot{value: root}, before, after) != nil {
				continue
			}
			if edited, err := e.apply(); err == nil && hasValue(edited, after) {
				return rewriting{edited, e.encoded}, nil
			}
		}
	}
	w.newline = newSource(text).ending
	whole := []byte(w.block(after, 0))
	if !w.json {
		whole = append(whole, w.newline...)
	}
	if !hasValue(whole, after) {
		return rewriting{}, fmt.Errorf("cannot be encoded as %s", map[bool]string{true: "JSON", false: "YAML"}[w.json])
	}
	return rewriting{whole, []string{""}}, nil
}

// hasValue reports whether the API server decodes a text as value.
func hasValue(text []byte, value any) bool {
	is, err := read(text)
	return err == nil && conversion.Same(is, value)
}

// parse parses a document for positions; nil if that fails.
func parse(text []byte) *yaml.Node {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	return root.Content[0]
}

type comment struct {
	text string
	line int
}

// comments are the comments of a document. The parser omits some in flow style, so they are searched between the scalars.
func comments(text []byte) (all []comment) {
	root := parse(text)
	if root == nil {
		return nil
	}
	s, scalars := newSource(text), make(map[int]int)
	s.scalars(root, scalars)
	for at, line := 0, 1; at < len(text); at++ {
		if end := scalars[at]; end > at {
			at = end
		}
		for line < len(s.lines) && s.lines[line] <= at {
			line++
		}
		if at < len(text) && text[at] == '#' && (at == 0 || strings.IndexByte(" \t\r\n", text[at-1]) >= 0) {
			end := s.lineEnd(at)
			all = append(all, comment{strings.TrimSpace(string(text[at:end])), line})
			at = end
		}
	}
	return all
}

func (s *source) scalars(node *yaml.Node, into map[int]int) {
	if node.Kind == yaml.ScalarNode {
		if begin, err := s.content(node); err == nil {
			into[begin], _ = s.end(node) // 0 on error
		}
	}
	for _, child := range node.Content {
		s.scalars(child, into)
	}
}

// lostComments are comments of a document that are missing in another one.
func lostComments(before, after []byte) (lost []comment) {
	left := comments(after)
	for _, one := range comments(before) {
		at := slices.IndexFunc(left, func(c comment) bool { return c.text == one.text })
		if at < 0 {
			lost = append(lost, one)
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	return lost
}
