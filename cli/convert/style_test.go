package convert

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// pair and object are an object whose fields have an order.
type (
	pair struct {
		name  string
		value any
	}
	object []pair
)

// remark is a comment that a pen wrote, and the path of what it is about.
type remark struct{ text, path string }

// pen writes objects as YAML in any style that people and programs have.
type pen struct {
	*rapid.T
	strings.Builder
	newline, step string
	remarks       []remark
	anchors       map[string]string // their names, by what they stand for; nil for a text without any
	named         int
}

func newPen(t *rapid.T) *pen {
	p := &pen{
		T:       t,
		newline: rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "newline"),
		step:    rapid.SampledFrom([]string{"  ", "  ", "    "}).Draw(t, "step"),
	}
	if p.seldom(4, "anchors") {
		p.anchors = map[string]string{}
	}
	return p
}

// seldom is true once in n times.
func (p *pen) seldom(n int, what string) bool { return rapid.IntRange(1, n).Draw(p.T, what) == 1 }

func (p *pen) remark(path string) string {
	text := fmt.Sprintf("# remark %d: it's {a} \"test\"", len(p.remarks))
	p.remarks = append(p.remarks, remark{text, path})
	return text
}

// above writes comments and blank lines above a field.
func (p *pen) above(indent, path string) {
	for p.seldom(6, "above") {
		if p.seldom(3, "blank") {
			p.WriteString(p.newline)
			continue
		}
		p.WriteString(indent + p.remark(path) + p.newline)
	}
}

// endLine ends a line, perhaps by a comment.
func (p *pen) endLine(path string) {
	if p.seldom(6, "behind") {
		p.WriteString(" " + p.remark(path))
	}
	p.WriteString(p.newline)
}

// fields writes the fields of an object in block style. inLine says that the first of them begins behind a dash.
func (p *pen) fields(o object, indent, path string, inLine bool) {
	for i, f := range o {
		if i > 0 || !inLine {
			p.above(indent, path)
			p.WriteString(indent)
		}
		p.WriteString(p.scalar(f.name, false, true) + ":")
		p.value(f.value, indent, join(path, f.name))
	}
}

// value writes what comes behind a colon.
func (p *pen) value(value any, indent, path string) {
	switch v := value.(type) {
	case object:
		if len(v) > 0 && !p.seldom(8, "flow") {
			p.endLine(path)
			p.fields(v, indent+p.step, path, false)
			return
		}
	case []any:
		if len(v) > 0 && !p.seldom(4, "flow") && !isPlain(v) {
			p.list(v, indent, path)
			return
		}
	case string:
		if p.seldom(20, "literal") && v != "" && !strings.Contains(v, "\n") {
			p.WriteString(" |-" + p.newline + indent + p.step + v + p.newline)
			return
		}
	}
	p.WriteString(" " + p.inline(value, path))
	p.endLine(path)
}

// isPlain reports whether a list has only text, as days have.
func isPlain(list []any) bool {
	_, isText := list[0].(string)
	return isText
}

func (p *pen) list(list []any, indent, path string) {
	p.endLine(path)
	if p.seldom(2, "indented list") {
		indent += "  "
	}
	for i, one := range list {
		p.above(indent, path)
		p.WriteString(indent + "-")
		own := item(path, i)
		if o, ok := one.(object); ok && len(o) > 0 && !p.seldom(8, "flow") {
			p.WriteString(" ")
			p.fields(o, indent+"  ", own, true)
			continue
		}
		p.value(one, indent, own)
	}
}

// inline writes a value within one line, or within brackets over several.
func (p *pen) inline(value any, path string) string {
	var parts []func() string
	var paths []string
	opening, closing := "[", "]"
	switch v := value.(type) {
	case object:
		opening, closing = "{", "}"
		for _, f := range v {
			own := join(path, f.name)
			parts, paths = append(parts, func() string { return p.scalar(f.name, true, true) + ": " + p.inline(f.value, own) }), append(paths, own)
		}
	case []any:
		for i, one := range v {
			own := item(path, i)
			parts, paths = append(parts, func() string { return p.inline(one, own) }), append(paths, own)
		}
	default:
		return p.scalar(v, true, false)
	}
	if p.seldom(6, "several lines") && len(parts) > 0 {
		return opening + p.overLines(parts, paths, path) + closing
	}
	var texts []string
	said := len(p.remarks)
	for _, part := range parts {
		texts = append(texts, part())
	}
	text := opening + strings.Join(texts, ", ") + closing
	if len(p.remarks) > said {
		return text // with what is about one place
	}
	return p.anchored(text)
}

// overLines writes what is within brackets over several lines, with comments above and behind each part.
func (p *pen) overLines(parts []func() string, paths []string, path string) string {
	var text strings.Builder
	behindBracket, comma := p.seldom(3, "behind the bracket"), p.seldom(4, "a last comma")
	for i, part := range parts {
		if i > 0 || !behindBracket {
			text.WriteString(p.newline)
			for p.seldom(6, "above within") {
				text.WriteString(strings.Repeat(" ", 16) + p.remark(path) + p.newline)
			}
			text.WriteString(strings.Repeat(" ", 16))
		}
		text.WriteString(part())
		if i < len(parts)-1 || comma {
			text.WriteString(",")
		}
		last := i == len(parts)-1
		if p.seldom(4, "beside within") {
			text.WriteString(" " + p.remark(paths[i]) + p.newline)
			last = false
			if i == len(parts)-1 {
				text.WriteString(strings.Repeat(" ", 12))
			}
		}
		if last && !p.seldom(3, "before the bracket") {
			text.WriteString(p.newline + strings.Repeat(" ", 12))
		}
	}
	return text.String()
}

// anchored gives a text an anchor now and then, and later on takes the anchor for it.
func (p *pen) anchored(text string) string {
	if name, known := p.anchors[text]; known && p.seldom(2, "alias") {
		return "*" + name + " "
	}
	if p.anchors != nil && p.seldom(15, "anchor") {
		p.named++
		p.anchors[text] = fmt.Sprintf("a%d", p.named)
		return "&" + p.anchors[text] + " " + text
	}
	return text
}

// scalar writes a scalar in one of the styles that it can have.
func (p *pen) scalar(value any, flow, key bool) string {
	text, isText := value.(string)
	if !isText {
		return fmt.Sprint(value)
	}
	double, _ := json.Marshal(text)
	styles := []string{string(double), "'" + strings.ReplaceAll(text, "'", "''") + "'"}
	if isSafe(text) {
		styles = append(styles, text, text, text, text)
	}
	style := rapid.SampledFrom(styles).Draw(p.T, "style")
	if key || len(p.String()) == 0 {
		return style
	}
	return p.anchored(style)
}

// isSafe reports whether a text needs no quotes anywhere.
func isSafe(text string) bool {
	if text == "" || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/.-_%") != "" {
		return false
	}
	return text[0] >= 'A' || strings.HasSuffix(text, "%")
}
