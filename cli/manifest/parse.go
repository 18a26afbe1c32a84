package manifest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	k8syaml "sigs.k8s.io/yaml"
)

// Problem is why a document of a file is no object.
type Problem struct {
	File *File
	// Line is where it begins, or where its reader stopped.
	Line   int
	Reason string
}

// Error is the place, as compilers write it, and the reason.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File.Name, p.Line, p.Reason) }

// Parse returns the objects of a file, those of lists one by one, in their order. Documents that are empty or
// no Kubernetes object, without apiVersion and kind, are left out; those that cannot be read are problems.
func Parse(file *File) (objects []*Object, problems []*Problem) {
	for i, document := range documents(file.Data) {
		found, problem := parse(file, i, document)
		if problem != nil {
			problems = append(problems, problem)
		}
		objects = append(objects, found...)
	}
	return objects, problems
}

// document is a part of a file, the line on which it begins, and how many bytes are before it.
type document struct {
	text   []byte
	line   int
	offset int
	// behind is what stands on the line before it, behind the ---, if that is no comment.
	behind string
}

// documents splits a file where kubectl does: at lines that begin with ---, or between JSON values. kubectl does
// not read YAML to do that, and splits within a block of text too.
func documents(data []byte) []document {
	mark := len(data)
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	mark -= len(data)
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		if stream, ok := jsonValues(data, mark); ok {
			return stream
		}
	}
	var all []document
	begin, at, line, first, behind := 0, 0, 1, 1, ""
	for text := range bytes.Lines(data) {
		if after, ok := bytes.CutPrefix(text, []byte("---")); ok {
			all = append(all, document{data[begin:at], first, mark + begin, behind})
			begin, first, behind = at+len(text), line+1, ""
			if trimmed := bytes.TrimSpace(after); len(trimmed) > 0 && (trimmed[0] != '#' || after[0] == '#') {
				behind = string(bytes.TrimRight(after, "\r\n"))
			}
		}
		at, line = at+len(text), line+1
	}
	return append(all, document{data[begin:], first, mark + begin, behind})
}

// jsonValues splits a stream of JSON values; ok is false if it is none, as with a flow mapping of YAML.
// mark is how many bytes are before it.
func jsonValues(data []byte, mark int) (all []document, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return all, true
		} else if err != nil {
			return nil, false
		}
		begin := int(decoder.InputOffset()) - len(value)
		all = append(all, document{text: value, line: 1 + bytes.Count(data[:begin], []byte("\n")), offset: mark + begin})
	}
}

// parse reads one document. One that can be read and yet is not as it should be gives both, its objects and the problem: what is
// right about it is judged all the same.
func parse(file *File, index int, doc document) ([]*Object, *Problem) {
	if doc.behind != "" {
		return nil, &Problem{File: file, Line: doc.line - 1, Reason: fmt.Sprintf("%q is no line between documents: begin a new line behind ---", "---"+doc.behind)}
	}
	isJSON := json.Valid(doc.text)
	content, err := decode(doc.text, isJSON)
	if err != nil {
		line, reason := yamlReason(err, doc)
		return nil, &Problem{File: file, Line: line, Reason: reason}
	}
	whole := &Object{File: file, Document: index, Raw: doc.text, Line: doc.line}
	var rest int
	whole.node, rest = nodes(doc, isJSON)
	whole.Object, _ = content.(map[string]any)
	var problem *Problem
	if field, reason := misshapen(content); reason != "" {
		at, _ := whole.Position(field)
		problem = &Problem{File: file, Line: at.Line, Reason: reason}
	} else if rest > 0 {
		problem = &Problem{File: file, Line: rest, Reason: "nobody reads what stands here, behind the end of a document: begin the next one with a line ---"}
	}
	if problem != nil && rest == 0 || !hasType(whole.Object) {
		return nil, problem
	}
	if is, _ := whole.isList(); !is {
		return []*Object{whole}, problem
	}
	objects, unfit := whole.items()
	return objects, cmp.Or(unfit, problem)
}

// decode reads YAML or JSON as the API server does.
func decode(text []byte, isJSON bool) (content any, err error) {
	if !isJSON {
		if text, err = k8syaml.YAMLToJSON(text); err != nil {
			return nil, err
		}
	}
	return content, utiljson.Unmarshal(text, &content)
}

// surrogate is half of what JSON writes for one character; YAML has no such escapes.
var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// nodes reads the document for its positions, which are those of the file; nil if that cannot be done. rest is the line of what stands
// behind the document's end, as after a line with three dots, where neither kubectl nor the API server look; 0 if nothing does.
func nodes(doc document, isJSON bool) (content *yaml.Node, rest int) {
	var root, next yaml.Node
	text := doc.text
	if isJSON {
		text = surrogate.ReplaceAll(text, []byte(`\u0020`)) // as long, so that what follows stays where it is
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&root); err != nil || len(root.Content) == 0 {
		return nil, 0
	}
	shift(&root, doc.line-1)
	if err := decoder.Decode(&next); err == nil {
		rest = doc.line - 1 + next.Line
	} else if !errors.Is(err, io.EOF) {
		rest, _ = yamlReason(err, doc)
	}
	return root.Content[0], rest
}

// shift moves positions from the document to the file.
func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, c := range node.Content {
		shift(c, lines)
	}
}

// yamlReason is what is wrong with a document, and on which line of the file. The reader's own line counts from the document.
func yamlReason(err error, doc document) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	reason = strings.TrimPrefix(reason, "yaml: ")
	line = doc.line
	var within int
	if n, _ := fmt.Sscanf(reason, "line %d:", &within); n == 1 {
		line += within - 1
		_, reason, _ = strings.Cut(reason, ": ")
	}
	if bytes.Contains(doc.text, []byte("{{")) {
		reason += "; this is a template: give what it renders, as in helm template CHART | kyklos lint -f -"
	}
	return line, reason
}
