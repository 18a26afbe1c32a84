package conversion

import (
	"encoding/json"
	"errors"
	"maps"
)

// document is an API object. Conversion only decodes what it needs; everything else, such as status and
// managedFields, is kept byte by byte, while a typed round trip would normalise it.
type document map[string]json.RawMessage

var errNotObject = errors.New("must be a JSON object with apiVersion and kind")

func parseDocument(raw []byte) (document, error) {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil || d == nil {
		return nil, errors.Join(errNotObject, err)
	}
	return d, nil
}

// withVersion returns a copy with another apiVersion, and with metadata: the API server refuses a response without
// it, even if the request had none, as server-side apply sends for parts of objects.
func (d document) withVersion(apiVersion string) document {
	converted := maps.Clone(d)
	converted["apiVersion"] = encode(apiVersion)
	if raw, ok := d["metadata"]; !ok || string(raw) == "null" {
		converted["metadata"] = json.RawMessage("{}")
	}
	return converted
}

// annotations are the annotations of a document.
type annotations struct {
	metadata map[string]json.RawMessage
	values   map[string]json.RawMessage
	// raw is metadata.annotations as written, nil if absent.
	raw json.RawMessage
}

// annotations returns the document's annotations; false if metadata is invalid.
func (d document) annotations() (annotations, bool) {
	a := annotations{}
	if json.Unmarshal(d["metadata"], &a.metadata) != nil {
		return a, false
	}
	a.raw = a.metadata["annotations"]
	if a.raw != nil && json.Unmarshal(a.raw, &a.values) != nil {
		return a, false
	}
	return a, true
}

// text returns an annotation; false if it is missing or not a string.
func (a annotations) text(name string) (string, bool) {
	raw, ok := a.values[name]
	if !ok || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var text string
	return text, json.Unmarshal(raw, &text) == nil
}

// setAnnotation sets the document's annotations to a with one added or replaced.
func (d document) setAnnotation(a annotations, name, text string) {
	values := maps.Clone(a.values)
	if values == nil {
		values = map[string]json.RawMessage{}
	}
	values[name] = encode(text)
	d.setMetadata(a, encode(values))
}

// setMetadata sets the document's metadata to a's with other annotations; nil for none.
func (d document) setMetadata(a annotations, raw json.RawMessage) {
	metadata := maps.Clone(a.metadata)
	if raw == nil {
		delete(metadata, "annotations")
	} else {
		metadata["annotations"] = raw
	}
	d["metadata"] = encode(metadata)
}
