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
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	k8syaml "sigs.k8s.io/yaml"
)

// Problem is why a document is not a valid object.
type Problem struct {
	File *File
	// Line is where the document begins, or where the error is; 0 if the file cannot be read, which Reason names.
	Line   int
	Reason string
}

// Error is FILE:LINE and the reason.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.Reason
	}
	return fmt.Sprintf("%s:%d: %s", p.File.Name, p.Line, p.Reason)
}

// Parse returns the objects of a file, including the items of lists, in order. Empty documents and those without apiVersion and kind
// are skipped; invalid ones are problems.
func Parse(file *File) (objects []*Object, problems []*Problem) {
	all := documents(file.Data)
	if file.Encoding != "" { // kubectl looks for separators before it decodes
		all = []document{{text: file.Data, line: 1}}
	}
	for i, document := range all {
		found, problem := parse(file, i, document)
		if problem != nil {
			problems = append(problems, problem)
		}
		objects = append(objects, found...)
	}
	return objects, problems
}

type document struct {
	text   []byte
	line   int
	offset int
	// separator is the text after --- on the line before, unless it is a comment.
	separator string
}

// documents splits a file as kubectl does: between JSON values, or at lines that begin with ---, even within a block scalar.
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
	begin, at, line, first, separator := 0, 0, 1, 1, ""
	for text := range bytes.Lines(data) {
		if after, ok := bytes.CutPrefix(text, []byte("---")); ok {
			all = append(all, document{data[begin:at], first, mark + begin, separator})
			begin, first, separator = at+len(text), line+1, ""
			if trimmed := bytes.TrimSpace(after); len(trimmed) > 0 && (trimmed[0] != '#' || after[0] == '#') {
				separator = string(bytes.TrimRight(after, "\r\n"))
			}
		}
		at, line = at+len(text), line+1
	}
	return append(all, document{data[begin:], first, mark + begin, separator})
}

// jsonValues splits a stream of JSON values; ok is false if it is something else, such as a YAML flow mapping. mark is the number of
// bytes before it.
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

// parse parses one document. It may return valid objects and a problem.
func parse(file *File, index int, doc document) ([]*Object, *Problem) {
	if doc.separator != "" {
		return nil, &Problem{File: file, Line: doc.line - 1, Reason: fmt.Sprintf("%q does not separate documents: start a new line after ---", "---"+doc.separator)}
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
		reason := "ignored text after the end of a document: start the next document with a line ---"
		if file.Encoding != "" {
			reason = fmt.Sprintf("ignored text after the end of a document: kubectl reads only the first one of a file in %s; save it as UTF-8", file.Encoding)
		}
		problem = &Problem{File: file, Line: rest, Reason: reason}
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

func decode(text []byte, isJSON bool) (content any, err error) {
	if !isJSON {
		if text, err = k8syaml.YAMLToJSON(text); err != nil {
			return nil, err
		}
	}
	return content, utiljson.Unmarshal(text, &content)
}

var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// nodes parses the document for positions in the file; nil if that fails. rest is the line of text after the end of the document,
// such as after a line with three dots, which kubectl and the API server ignore; 0 without any.
func nodes(doc document, isJSON bool) (content *yaml.Node, rest int) {
	var root, next yaml.Node
	text := doc.text
	if isJSON {
		text = surrogate.ReplaceAll(text, []byte(`\u0020`)) // of the same length, to keep positions
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

func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, c := range node.Content {
		shift(c, lines)
	}
}

// yamlReason is the error of a document and its line in the file. The parser counts lines from the start of the document.
func yamlReason(err error, doc document) (line int, reason string) {
	reason = strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	reason = strings.TrimPrefix(reason, "yaml: ")
	line = doc.line
	var within int
	if n, _ := fmt.Sscanf(reason, "line %d:", &within); n == 1 {
		line += within - 1
		_, reason, _ = strings.Cut(reason, ": ")
	}
	if bytes.Contains(doc.text, []byte("{{")) && utf8.Valid(doc.text) {
		reason += "; this looks like a template: use its output, as in helm template CHART | kyklos lint -f -"
	}
	return line, reason
}

// Document is a document of a file.
type Document struct {
	// Text is YAML or JSON, and shares its bytes with the file.
	Text []byte
	// Line is the line of the file, from 1, on which Text begins, and Offset its offset in bytes.
	Line, Offset int
}

// Documents splits the content of a file as Parse does.
func Documents(data []byte) []Document {
	var all []Document
	for _, d := range documents(data) {
		all = append(all, Document{Text: d.text, Line: d.line, Offset: d.offset})
	}
	return all
}
