package conversion

import (
	"bytes"
	"encoding/json"
)

// Annotation preserves in a v1alpha1 object what only v1beta1 can express. v1beta1 objects do not have it, unless a
// client sets it.
const Annotation = "kyklos.io/v1beta1-spec"

// payload is the value of Annotation.
type payload struct {
	// Spec is the v1beta1 spec, if it differs from its view.
	Spec json.RawMessage `json:"spec,omitempty"`
	// Annotation is the v1beta1 object's annotation of the same name.
	Annotation *string `json:"annotation,omitempty"`
	// Annotations is the v1beta1 object's metadata.annotations if null or {}.
	Annotations json.RawMessage `json:"annotations,omitempty"`
	// Cut marks an object that has no room for the rest: it must not be written back. It stands alone.
	Cut bool `json:"cut,omitempty"`
}

// cutMarker is the value of Annotation of an object that has no room for the whole one.
const cutMarker = `{"cut":true}`

// parsePayload parses the value of Annotation, which clients can write. Any other value is an ordinary annotation,
// and so is a spec that the controller's client cannot decode: it would break every list of v1beta1.
func parsePayload(raw json.RawMessage) (payload, bool) {
	var text string
	var p payload
	if json.Unmarshal(raw, &text) != nil {
		return p, false
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&p) != nil || decoder.More() {
		return payload{}, false
	}
	if text == cutMarker {
		return p, true
	}
	if p.Cut || p.Spec == nil && p.Annotation == nil || p.Spec != nil && (p.Spec[0] != '{' || !decodable(p.Spec)) {
		return payload{}, false
	}
	if p.Annotations != nil && !isEmpty(p.Annotations) {
		return payload{}, false
	}
	return p, true
}

// text returns the value of Annotation in canonical form.
func (p payload) text() string {
	if p.Spec != nil {
		p.Spec = encode(decode(p.Spec))
	}
	return string(encode(p))
}

// isEmpty reports whether raw is null or an empty object.
func isEmpty(raw json.RawMessage) bool {
	object, isObject := decode(raw).(map[string]any)
	return string(raw) == "null" || isObject && len(object) == 0
}

// decode decodes JSON that is known to be valid; numbers are kept as written.
func decode(raw json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // absent is nil
	return value
}

// encode is the opposite of decode.
func encode(value any) json.RawMessage {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // impossible for decoded JSON
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
