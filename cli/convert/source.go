package convert

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// errUnplaced says of a node that its place in the text could not be told.
var errUnplaced = errors.New("the place of a value could not be told")

// source is the text of a document and where its lines begin.
type source struct {
	text  []byte
	lines []int
	// ending is how its lines end.
	ending string
}

// newSource finds the lines of a text as the YAML reader counts them.
func newSource(text []byte) *source {
	s := &source{text: text, lines: []int{0}, ending: "\n"}
	for at := 0; at < len(text); {
		size := breakAt(text[at:])
		if size == 0 {
			at++
			continue
		}
		if len(s.lines) == 1 && size == 2 && text[at] == '\r' {
			s.ending = "\r\n"
		}
		at += size
		s.lines = append(s.lines, at)
	}
	return s
}

// breakAt is the size of the line break with which text begins, by the rules of YAML 1.1; 0 if it does
// not begin with one.
func breakAt(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")):
		return 2
	case text[0] == '\n' || text[0] == '\r':
		return 1
	}
	for _, further := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(text, []byte(further)) {
			return len(further)
		}
	}
	return 0
}

// start is the offset at which a node begins.
func (s *source) start(node *yaml.Node) (int, error) {
	if node.Line < 1 || node.Line > len(s.lines) {
		return 0, errUnplaced
	}
	at := s.lines[node.Line-1]
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at, nil
}

// lineStart and lineEnd are where the line around an offset begins, and where its break does.
func (s *source) lineStart(at int) int {
	begin := 0
	for _, line := range s.lines {
		if line > at {
			break
		}
		begin = line
	}
	return begin
}

func (s *source) lineEnd(at int) int {
	for at < len(s.text) && breakAt(s.text[at:]) == 0 {
		at++
	}
	return at
}

// nextLine is where the line after that around an offset begins.
func (s *source) nextLine(at int) int {
	end := s.lineEnd(at)
	return end + breakAt(s.text[end:])
}

// isBlank reports whether nothing but spaces is between two offsets.
func (s *source) isBlank(from, to int) bool {
	return strings.Trim(string(s.text[from:to]), " \t\r\n") == ""
}

// content is where a node's value begins, behind its anchor and tag.
func (s *source) content(node *yaml.Node) (int, error) {
	at, err := s.start(node)
	if err != nil || node.Anchor == "" && node.Style&yaml.TaggedStyle == 0 {
		return at, err
	}
	for at < len(s.text) && (s.text[at] == '&' || s.text[at] == '!') {
		for at < len(s.text) && !bytes.ContainsRune([]byte(" \t\r\n"), rune(s.text[at])) {
			at++
		}
		at = s.skip(at, "")
	}
	return at, nil
}

// skip moves over spaces, line breaks, comments and the characters of further.
func (s *source) skip(at int, further string) int {
	for at < len(s.text) {
		c := s.text[at]
		switch {
		case c == '#':
			at = s.lineEnd(at)
		case strings.IndexByte(" \t\r\n"+further, c) >= 0:
			at++
		default:
			return at
		}
	}
	return at
}

// end is the offset behind a node.
func (s *source) end(node *yaml.Node) (int, error) {
	at, err := s.content(node)
	if err != nil {
		return 0, err
	}
	switch node.Kind {
	case yaml.AliasNode:
		return s.after(at, "*"+node.Value)
	case yaml.ScalarNode:
		return s.scalarEnd(node, at)
	case yaml.MappingNode, yaml.SequenceNode:
		return s.collectionEnd(node, at)
	}
	return 0, errUnplaced
}

// after is the offset behind a text that must stand at an offset.
func (s *source) after(at int, text string) (int, error) {
	if !bytes.HasPrefix(s.text[at:], []byte(text)) {
		return 0, errUnplaced
	}
	return at + len(text), nil
}

// collectionEnd is the offset behind a collection: behind its last value, or its closing bracket.
func (s *source) collectionEnd(node *yaml.Node, at int) (end int, err error) {
	end = at + 1 // behind the opening bracket
	if len(node.Content) > 0 {
		if end, err = s.end(node.Content[len(node.Content)-1]); err != nil {
			return 0, err
		}
	}
	if !isFlow(node) {
		return end, nil
	}
	end = s.skip(end, ",")
	if closing := map[yaml.Kind]string{yaml.MappingNode: "}", yaml.SequenceNode: "]"}[node.Kind]; at < len(s.text) {
		return s.after(end, closing)
	}
	return 0, errUnplaced
}

// isFlow reports whether a collection is written in brackets; one without content always is.
func isFlow(node *yaml.Node) bool { return node.Style&yaml.FlowStyle != 0 || len(node.Content) == 0 }
