package conversion

import (
	"bytes"
	"encoding/json"
)

// Annotation is the one annotation in which an object of v1alpha1 carries what only v1beta1 can say.
// Objects of v1beta1 do not have it, unless somebody put it there.
const Annotation = "kyklos.io/v1beta1-spec"

// maxAnnotations is how many bytes the names and values of all annotations of an object may have
// together. The API server refuses the answer to a conversion that exceeds it, and with it a whole
// LIST of v1alpha1.
const maxAnnotations = 256 << 10

// payload is what Annotation holds, as JSON.
type payload struct {
	// Spec is the v1beta1 spec, where it says more than the v1alpha1 one.
	Spec json.RawMessage `json:"spec,omitempty"`
	// Annotation is what the v1beta1 form has under the same name.
	Annotation *string `json:"annotation,omitempty"`
	// Annotations is what the v1beta1 form has for metadata.annotations where that is null or {}.
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

// parsePayload reads the value of Annotation, which may be anything that somebody wrote into it. What
// is no payload is an ordinary annotation and stays one. A spec that the controller's client could not
// decode is none: restored, it would break every list of v1beta1.
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
	if p.Spec == nil && p.Annotation == nil || p.Spec != nil && (p.Spec[0] != '{' || !readable(p.Spec)) {
		return payload{}, false
	}
	if p.Annotations != nil && !isNothing(p.Annotations) {
		return payload{}, false
	}
	return p, true
}

// text is the value of Annotation: compact, names in order, the same for the same meaning.
func (p payload) text() string {
	if p.Spec != nil {
		p.Spec = encode(decode(p.Spec))
	}
	return string(encode(p))
}

// isNothing reports whether raw is null or an empty object.
func isNothing(raw json.RawMessage) bool {
	object, isObject := decode(raw).(map[string]any)
	return string(raw) == "null" || isObject && len(object) == 0
}

// decode reads JSON that is known to be valid; numbers stay as they are written.
func decode(raw json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // valid; and absent is nil
	return value
}

// encode is the opposite of decode.
func encode(value any) json.RawMessage {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only a value that no JSON can be decoded to can do this
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
