package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
}

// documents splits a file where kubectl does: before lines that begin with ---, or between JSON values.
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
	begin, at, line, first := 0, 0, 1, 1
	for text := range bytes.Lines(data) {
		if bytes.HasPrefix(text, []byte("---")) && (len(bytes.TrimRight(text, "\r\n")) == 3 || text[3] == ' ' || text[3] == '\t') {
			all = append(all, document{data[begin:at], first, mark + begin})
			begin, first = at+len(text), line+1
		}
		at, line = at+len(text), line+1
	}
	return append(all, document{data[begin:], first, mark + begin})
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
		all = append(all, document{value, 1 + bytes.Count(data[:begin], []byte("\n")), mark + begin})
	}
}

func parse(file *File, index int, doc document) ([]*Object, *Problem) {
	content, err := decode(doc.text)
	if err != nil {
		line, reason := yamlReason(err, doc)
		return nil, &Problem{File: file, Line: line, Reason: reason}
	}
	object, isObject := content.(map[string]any)
	if !isObject || object["apiVersion"] == nil || object["kind"] == nil {
		return nil, nil
	}
	whole := &Object{File: file, Document: index, Raw: doc.text, Line: doc.line, Object: object, node: nodes(doc)}
	items, isList := object["items"].([]any)
	if !isList || !strings.HasSuffix(whole.text("kind"), "List") {
		return []*Object{whole}, nil
	}
	return whole.items(items), nil
}

// items are the objects of a list.
func (o *Object) items(items []any) []*Object {
	var all []*Object
	for i, item := range items {
		object, isObject := item.(map[string]any)
		if !isObject || object["apiVersion"] == nil || object["kind"] == nil {
			continue
		}
		one := &Object{File: o.File, Document: o.Document, Line: o.Line, InList: true, Object: object}
		if o.node != nil {
			if _, list := child(o.node, "items"); list != nil {
				_, one.node = child(list, fmt.Sprint(i))
			}
		}
		if one.node != nil {
			one.Line = one.node.Line
			one.Raw, _ = yaml.Marshal(one.node) // keeps keys that are there twice
		} else {
			one.Raw, _ = json.Marshal(object)
		}
		all = append(all, one)
	}
	return all
}

// decode reads YAML or JSON as the API server does.
func decode(text []byte) (any, error) {
	asJSON, err := k8syaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var content any
	return content, utiljson.Unmarshal(asJSON, &content)
}

// nodes reads the document for its positions, which are those of the file; nil if that cannot be done.
func nodes(doc document) *yaml.Node {
	var root yaml.Node
	if err := yaml.Unmarshal(doc.text, &root); err != nil || len(root.Content) == 0 {
		return nil
	}
	shift(&root, doc.line-1)
	return root.Content[0]
}

func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, c := range node.Content {
		shift(c, lines)
	}
}

// yamlReason is what is wrong with a document, and on which line of the file.
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
