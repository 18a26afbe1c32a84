package conversion

import (
	"encoding/json"
	"errors"
	"maps"
)

// document is an API object of which nothing is read but what conversion needs. All else, status and
// managedFields above all, passes byte by byte: a typed round trip would normalise it.
type document map[string]json.RawMessage

var errNoObject = errors.New("must be a JSON object, with apiVersion and kind: there is nothing to convert in anything else")

func parseDocument(raw []byte) (document, error) {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil || d == nil {
		return nil, errors.Join(errNoObject, err)
	}
	return d, nil
}

// withVersion returns a copy of another apiVersion, and with a metadata: where it is missing, as in the
// parts of objects that server-side apply looks at, the API server refuses an answer without it.
func (d document) withVersion(apiVersion string) document {
	converted := maps.Clone(d)
	converted["apiVersion"] = encode(apiVersion)
	if raw, ok := d["metadata"]; !ok || string(raw) == "null" {
		converted["metadata"] = json.RawMessage("{}")
	}
	return converted
}

// annotations are those of one document.
type annotations struct {
	metadata map[string]json.RawMessage
	values   map[string]json.RawMessage
	// raw is metadata.annotations as it was written, nil if it was not there.
	raw json.RawMessage
}

// annotations returns the document's annotations; false if there is no place for any, which no API
// server lets happen.
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

// text returns an annotation; false if it is missing or no string.
func (a annotations) text(name string) (string, bool) {
	raw, ok := a.values[name]
	if !ok || len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var text string
	return text, json.Unmarshal(raw, &text) == nil
}

// size is how much the API server counts for all annotations but one: at most this many bytes.
func (a annotations) size(except string) (size int) {
	for name, value := range a.values {
		if name != except {
			size += len(name) + len(value)
		}
	}
	return size
}

// setAnnotation gives the document its annotations a with one more or another one.
func (d document) setAnnotation(a annotations, name, text string) {
	values := maps.Clone(a.values)
	if values == nil {
		values = map[string]json.RawMessage{}
	}
	values[name] = encode(text)
	d.setMetadata(a, encode(values))
}

// setMetadata gives the document a's metadata with other annotations; nil for none.
func (d document) setMetadata(a annotations, raw json.RawMessage) {
	metadata := maps.Clone(a.metadata)
	if raw == nil {
		delete(metadata, "annotations")
	} else {
		metadata["annotations"] = raw
	}
	d["metadata"] = encode(metadata)
}
