package convert

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// writer writes values as their surroundings are written.
type writer struct {
	newline string
	// json says that the document is JSON and has to stay it, oneLine that it is so on a single line.
	json, oneLine bool
}

// block writes a value over as many lines as it takes, those after the first one indented.
func (w writer) block(value any, indent int) string {
	if w.json {
		return w.lines(value, strings.Repeat(" ", indent))
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	_ = encoder.Encode(node(value, 0)) // to memory, of a tree that was just built
	text := strings.TrimSuffix(out.String(), "\n")
	return strings.ReplaceAll(text, "\n", w.newline+strings.Repeat(" ", indent))
}

// lines writes JSON as people do, with indent before each line but the first.
func (w writer) lines(value any, indent string) string {
	if w.oneLine {
		return toJSON(value)
	}
	var out bytes.Buffer
	_ = json.Indent(&out, []byte(toJSON(value)), indent, "  ") // it is JSON
	return strings.ReplaceAll(out.String(), "\n", w.newline)
}

// inline writes a value on one line, as it may stand within brackets.
func (w writer) inline(value any, style yaml.Style) string {
	if w.json {
		return toJSON(value)
	}
	// A list around it has the writer quote what would mean something within brackets.
	n := node(value, yaml.FlowStyle)
	quote(n, style)
	text, _ := yaml.Marshal(&yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{n}})
	return strings.TrimSuffix(strings.TrimPrefix(string(text), "["), "]\n")
}

// scalar writes a scalar as it may stand behind a key or dash, in the style of another one.
func (w writer) scalar(value any, style yaml.Style) string {
	if w.json {
		return toJSON(value)
	}
	// A key before it has the writer quote what would mean something behind one.
	n := node(value, 0)
	quote(n, style)
	text, _ := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "k"}, n}})
	return strings.TrimSuffix(strings.TrimPrefix(string(text), "k: "), "\n")
}

// entry writes a key and its value on one line if within brackets, and otherwise over as many as it takes.
func (w writer) entry(name string, value any, flow bool, indent int) string {
	switch {
	case w.json:
		return toJSON(name) + ": " + w.lines(value, strings.Repeat(" ", indent))
	case flow:
		text := w.inline(map[string]any{name: value}, 0)
		return strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
	}
	return w.block(map[string]any{name: value}, indent)
}

// node is the tree of a value. Text is on one line, and quoted where YAML 1.1, which the API server reads, takes it for
// something else, as 24:00 for a number to the base of 60.
func node(value any, style yaml.Style) *yaml.Node {
	switch v := value.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Style: style}
		for _, name := range names(v) {
			n.Content = append(n.Content, node(name, 0), node(v[name], style))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: style}
		for i := range v {
			n.Content = append(n.Content, node(v[i], style))
		}
		return n
	case string:
		n := &yaml.Node{}
		if strings.ContainsAny(v, "\n\r\u0085\u2028\u2029") || n.Encode(v) != nil {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: yaml.DoubleQuotedStyle}
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: toJSON(value)}
}

// quote gives text the quotes of another style, where both have some.
func quote(n *yaml.Node, style yaml.Style) {
	const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle
	if n.Tag == "!!str" && style&quotes != 0 && n.Style != yaml.DoubleQuotedStyle|style&quotes {
		n.Style = style & quotes
	}
}
