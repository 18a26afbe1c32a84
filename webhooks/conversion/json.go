package conversion

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"
)

// JSON that is known to be valid is read here without encoding/json, which would validate each part again, and decode
// through reflection. API servers convert one object with each request, and wait for it. A test compares the two.

// reader reads valid JSON.
type reader struct {
	text []byte
	at   int
}

func (r *reader) space() {
	for r.at < len(r.text) && r.text[r.at] <= ' ' {
		r.at++
	}
}

// next returns the byte after white space; 0 at the end.
func (r *reader) next() byte {
	r.space()
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// skip returns the bytes of the next value.
func (r *reader) skip() json.RawMessage {
	first := r.next()
	start, depth := r.at, 0
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '"':
			r.skipString()
		case '{', '[':
			depth++
			r.at++
		case '}', ']':
			depth--
			r.at++
		default:
			if first != '{' && first != '[' {
				r.skipLiteral()
			} else {
				r.at++
			}
		}
		if depth == 0 {
			break
		}
	}
	return r.text[start:r.at:r.at]
}

func (r *reader) skipString() {
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			return
		}
	}
}

// skipLiteral skips a number, true, false or null.
func (r *reader) skipLiteral() {
	for r.at++; r.at < len(r.text); r.at++ {
		if c := r.text[r.at]; c <= ' ' || c == ',' || c == ']' || c == '}' {
			return
		}
	}
}

// each calls do at each item of an object or list, until its end. do reads the item.
func (r *reader) each(do func()) {
	r.next()
	for r.at++; ; {
		switch r.next() {
		case '}', ']', 0:
			r.at++
			return
		case ',':
			r.at++
		default:
			do()
		}
	}
}

// name reads the name of an object's member.
func (r *reader) name() string {
	name := text(r.skip())
	r.next()
	r.at++ // the colon
	return name
}

// members splits an object; false if raw is no object.
func members(raw []byte) (map[string]json.RawMessage, bool) {
	r := reader{text: raw}
	if r.next() != '{' {
		return nil, false
	}
	found := make(map[string]json.RawMessage, 8)
	r.each(func() {
		name := r.name()
		found[name] = r.skip()
	})
	return found, true
}

// elements splits a list; nil if raw is no list.
func elements(raw []byte) (found []json.RawMessage) {
	r := reader{text: raw}
	if r.next() == '[' {
		r.each(func() { found = append(found, r.skip()) })
	}
	return found
}

// text decodes a string.
func text(raw json.RawMessage) (decoded string) {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	_ = json.Unmarshal(raw, &decoded)
	return decoded
}

// decode decodes JSON that is known to be valid; numbers are kept as written, and absent is nil.
func decode(raw json.RawMessage) any { return (&reader{text: raw}).value() }

func (r *reader) value() any {
	switch r.next() {
	case '{':
		object := map[string]any{}
		r.each(func() {
			name := r.name()
			object[name] = r.value()
		})
		return object
	case '[':
		list := []any{}
		r.each(func() { list = append(list, r.value()) })
		return list
	case '"':
		return text(r.skip())
	case 't', 'f':
		return r.skip()[0] == 't'
	case 'n', 0:
		r.skip()
		return nil
	default:
		return json.Number(r.skip())
	}
}

// encode is the opposite of decode. It also takes documents and payloads.
func encode(value any) json.RawMessage { return appendJSON(make([]byte, 0, 512), value) }

func appendJSON(out []byte, value any) []byte {
	switch v := value.(type) {
	case document:
		return appendMembers(out, v)
	case map[string]json.RawMessage:
		return appendMembers(out, v)
	case map[string]any:
		return appendMembers(out, v)
	case json.RawMessage:
		return append(out, v...)
	case []any:
		out = append(out, '[')
		for i := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendJSON(out, v[i])
		}
		return append(out, ']')
	case string:
		return appendString(out, v)
	case json.Number:
		return append(out, v...)
	default:
		return append(out, encodeSlowly(value)...)
	}
}

func appendMembers[V any](out []byte, object map[string]V) []byte {
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, name), ':')
		out = appendJSON(out, object[name])
	}
	return append(out, '}')
}

// appendString leaves control characters and what is not ASCII to encoding/json.
func appendString(out []byte, text string) []byte {
	start := len(out)
	out = append(out, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c >= utf8.RuneSelf || c == 0x7f:
			return append(out[:start], encodeSlowly(text)...)
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

func encodeSlowly(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // impossible for decoded JSON
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
