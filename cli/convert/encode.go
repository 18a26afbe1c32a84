package convert

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"
)

type writer struct {
	newline string
	// json is for a JSON document, oneLine for one on a single line.
	json, oneLine bool
}

// block encodes a value in block style, indented from the second line.
func (w writer) block(value any, indent int) string {
	if w.json {
		return w.lines(value, strings.Repeat(" ", indent))
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	_ = encoder.Encode(node(value, 0)) // a valid tree, to memory
	text := strings.TrimSuffix(out.String(), "\n")
	return strings.ReplaceAll(text, "\n", w.newline+strings.Repeat(" ", indent))
}

func (w writer) lines(value any, indent string) string {
	if w.oneLine {
		return toJSON(value)
	}
	var out bytes.Buffer
	_ = json.Indent(&out, []byte(toJSON(value)), indent, "  ") // valid JSON
	return strings.ReplaceAll(out.String(), "\n", w.newline)
}

func (w writer) inline(value any, style yaml.Style) string {
	if w.json {
		return toJSON(value)
	}
	// Within a list, the encoder quotes special characters of flow style.
	n := node(value, yaml.FlowStyle)
	quote(n, style)
	text, _ := yaml.Marshal(&yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{n}})
	return strings.TrimSuffix(strings.TrimPrefix(string(text), "["), "]\n")
}

// scalar encodes a scalar after a key or dash, in a quoting style.
func (w writer) scalar(value any, style yaml.Style) string {
	if w.json {
		return toJSON(value)
	}
	// After a key, the encoder quotes special characters of that context.
	n := node(value, 0)
	quote(n, style)
	text, _ := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "k"}, n}})
	return strings.TrimSuffix(strings.TrimPrefix(string(text), "k: "), "\n")
}

// entry encodes a key and its value, on one line in flow style.
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

// node is the tree of a value. Strings are on one line, and quoted where YAML 1.1, which the API server uses, has another meaning: 24:00
// is a number to the base of 60.
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

// quote quotes a string in a style, if both are quoted.
func quote(n *yaml.Node, style yaml.Style) {
	const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle
	if n.Tag == "!!str" && style&quotes != 0 && n.Style != yaml.DoubleQuotedStyle|style&quotes {
		n.Style = style & quotes
	}
}

// read decodes YAML or JSON as the API server does, with unchanged numbers.
func read(text []byte) (any, error) {
	asJSON, err := k8syaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	return fromJSON(asJSON)
}

// fromJSON decodes JSON, with unchanged numbers.
func fromJSON(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return value, decoder.Decode(&value)
}

func toJSON(value any) string {
	var out bytes.Buffer
	writeJSON(&out, value)
	return out.String()
}

// writeJSON encodes JSON on one line, with a space after each comma and colon.
func writeJSON(out *bytes.Buffer, value any) {
	switch v := value.(type) {
	case map[string]any:
		out.WriteByte('{')
		for i, name := range names(v) {
			if i > 0 {
				out.WriteString(", ")
			}
			writeJSON(out, name)
			out.WriteString(": ")
			writeJSON(out, v[name])
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i := range v {
			if i > 0 {
				out.WriteString(", ")
			}
			writeJSON(out, v[i])
		}
		out.WriteByte(']')
	default:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(v) // a scalar that was decoded from JSON
		out.Truncate(out.Len() - 1)
	}
}

// order is the usual order of the fields of a scaler. Each field has one place.
var order = []string{"apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations", "spec",
	"targetRef", "timezone", "baselineReplicas", "defaultReplicas", "windows", "days", "start", "end", "replicas",
	"metric", "selector", "target", "minReplicas", "maxReplicas", "holidays", "mode", "sourceRef", "gracePeriodSeconds",
	"pause", "workspace", "status"}

// rank is the place of a field in order; unknown fields come last.
func rank(name string) int {
	if at := slices.Index(order, name); at >= 0 {
		return at
	}
	return len(order)
}

// names are the fields of an object, in order, and alphabetically among unknown ones.
func names(object map[string]any) []string {
	return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(object))), func(a, b string) int {
		return rank(a) - rank(b)
	})
}
