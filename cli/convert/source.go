package convert

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// errUnplaced means that the position of a node could not be determined.
var errUnplaced = errors.New("the position of a value could not be determined")

type source struct {
	text  []byte
	lines []int
	// ending is its line ending.
	ending string
}

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

// breakAt is the size of a line break of YAML 1.1 at the start of text, 0 without one.
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

// lineStart is the start of the line around an offset, lineEnd the start of its line break.
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

func (s *source) nextLine(at int) int {
	end := s.lineEnd(at)
	return end + breakAt(s.text[end:])
}

// isBlank reports whether there is only white space between two offsets.
func (s *source) isBlank(from, to int) bool {
	return strings.Trim(string(s.text[from:to]), " \t\r\n") == ""
}

// content is the start of a node's value, after its anchor and tag.
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

// skip skips white space, comments and the characters of further.
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

func (s *source) after(at int, text string) (int, error) {
	if !bytes.HasPrefix(s.text[at:], []byte(text)) {
		return 0, errUnplaced
	}
	return at + len(text), nil
}

// collectionEnd is the offset after a collection's last value or closing bracket.
func (s *source) collectionEnd(node *yaml.Node, at int) (end int, err error) {
	end = at + 1 // after the opening bracket
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

// isFlow reports whether a collection is in flow style, within brackets; an empty one always is.
func isFlow(node *yaml.Node) bool { return node.Style&yaml.FlowStyle != 0 || len(node.Content) == 0 }

// scalarEnd is the offset after a scalar that begins at an offset.
func (s *source) scalarEnd(node *yaml.Node, at int) (int, error) {
	switch {
	case node.Style&yaml.DoubleQuotedStyle != 0:
		return s.quotedEnd(at, '"')
	case node.Style&yaml.SingleQuotedStyle != 0:
		return s.quotedEnd(at, '\'')
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		if strings.TrimSpace(node.Value) == "" {
			return s.lineEnd(at), nil
		}
		return s.blockEnd(at), nil
	}
	// A plain scalar is in the text literally, except for white space between its words.
	for i, word := range strings.Fields(node.Value) {
		if i > 0 {
			for at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[at]) >= 0 {
				at++
			}
		}
		var err error
		if at, err = s.after(at, word); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// quotedEnd finds the closing quote. Double quotes use backslash escapes, single quotes are doubled.
func (s *source) quotedEnd(at int, quote byte) (int, error) {
	if at >= len(s.text) || s.text[at] != quote {
		return 0, errUnplaced
	}
	for at++; at < len(s.text); at++ {
		switch {
		case quote == '"' && s.text[at] == '\\', quote == '\'' && bytes.HasPrefix(s.text[at:], []byte("''")):
			at++
		case s.text[at] == quote:
			return at + 1, nil
		}
	}
	return 0, errUnplaced
}

// blockEnd is the end of the last line of a literal or folded scalar whose header is at an offset, without blank lines at its end.
func (s *source) blockEnd(at int) int {
	end, indent := s.lineEnd(at), -1
	for line := s.nextLine(at); line < len(s.text); line = s.nextLine(line) {
		lineEnd := s.lineEnd(line)
		if s.isBlank(line, lineEnd) {
			continue
		}
		own := lineEnd - line - len(bytes.TrimLeft(s.text[line:lineEnd], " "))
		if indent < 0 {
			indent = own
		}
		if own < indent || own == 0 {
			break
		}
		end = lineEnd
	}
	return end
}
