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

// rewriting is a document that says something else.
type rewriting struct {
	text []byte
	// anew are the paths of what was written anew, "" the document as a whole.
	anew []string
}

// rewrite makes a document that says before say after, with as little change of its text as leads there: first single
// places; then also what aliases and merged mappings stand for; then whole objects; then the whole document. Each
// attempt is read again as the API server reads it, and the first that says after is taken.
// objects are the paths of its objects.
func rewrite(text []byte, before, after any, objects []string) (rewriting, error) {
	w := writer{json: json.Valid(text), oneLine: !bytes.ContainsAny(bytes.TrimSpace(text), "\r\n")}
	if root := parse(text); root != nil {
		// An attempt that fails is no error: YAML has corners in which a place cannot be told.
		for _, e := range []*editor{{}, {expand: true}, {anew: objects}} {
			e.source = newSource(text)
			e.writer = w
			e.newline = e.ending
			if e.change(slot{value: root}, before, after) != nil {
				continue
			}
			if edited, err := e.apply(); err == nil && says(edited, after) {
				return rewriting{edited, e.rewritten}, nil
			}
		}
	}
	w.newline = newSource(text).ending
	whole := []byte(w.block(after, 0))
	if !w.json {
		whole = append(whole, w.newline...)
	}
	if !says(whole, after) {
		return rewriting{}, fmt.Errorf("it cannot be written as %s", map[bool]string{true: "JSON", false: "YAML"}[w.json])
	}
	return rewriting{whole, []string{""}}, nil
}

// says reports whether the API server reads a text as value.
func says(text []byte, value any) bool {
	is, err := read(text)
	return err == nil && conversion.Same(is, value)
}

// parse reads a document for where its nodes are; nil if that cannot be done.
func parse(text []byte) *yaml.Node {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) == 0 {
		return nil
	}
	return root.Content[0]
}

// comment is one, and the line on which it stands.
type comment struct {
	text string
	line int
}

// comments are those of a document, in their order. The reader's tree does not have all of those within brackets, so they are looked for
// between its scalars.
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

// scalars adds where the scalars of a node begin and end.
func (s *source) scalars(node *yaml.Node, into map[int]int) {
	if node.Kind == yaml.ScalarNode {
		if begin, err := s.content(node); err == nil {
			into[begin], _ = s.end(node) // 0 if it cannot be told
		}
	}
	for _, child := range node.Content {
		s.scalars(child, into)
	}
}

// lostComments are those of a document that are not in another one, each as often as it was there.
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
