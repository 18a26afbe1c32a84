package convert

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalarEnd is the offset behind a scalar whose value begins at an offset.
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
	// A plain scalar is there as it is, but for how its words are apart. One without words is not there.
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

// quotedEnd finds the closing quote. In double quotes a backslash hides the next character, in single
// ones a quote hides another.
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

// blockEnd is the end of the last line of a literal or folded scalar whose header is at an offset: all lines that are
// indented as its first one is, blank ones at its end left out.
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
