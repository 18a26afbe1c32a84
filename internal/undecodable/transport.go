package undecodable

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Transport wraps the transport of a client of the API server.
func Transport(next http.RoundTripper) http.RoundTripper { return tolerant{next} }

type tolerant struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t tolerant) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return response, err
	}
	kind, single, ok := asked(request)
	if !ok {
		return response, nil
	}
	if watching, _ := strconv.ParseBool(request.URL.Query().Get("watch")); watching {
		response.Body = &frames{kind: kind, body: response.Body, decoder: json.NewDecoder(response.Body)}
		return response, nil
	}
	raw, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	if single {
		raw = kind.soundObject(raw)
	} else {
		raw = kind.soundList(raw)
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	response.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return response, nil
}

// asked returns the kind that a request lists or watches, or of which it reads a single object. Metadata alone can always
// be decoded.
func asked(request *http.Request) (of kind, single, ok bool) {
	if request.Method != http.MethodGet || strings.Contains(request.Header.Get("Accept"), "as=") {
		return kind{}, false, false
	}
	for _, k := range kinds {
		_, rest, found := strings.Cut(request.URL.Path, k.path)
		if inNamespace, ok := strings.CutPrefix(rest, "namespaces/"); ok {
			_, rest, _ = strings.Cut(inNamespace, "/")
		}
		resource, name, single := strings.Cut(rest, "/")
		if found && resource == k.resource && !strings.Contains(name, "/") && (!single || !k.whole) {
			return k, single, true
		}
	}
	return kind{}, false, false
}

// soundObject replaces an object. What cannot be replaced is left to the client.
func (k kind) soundObject(raw []byte) []byte {
	if sound, err := k.sound(raw); err == nil {
		return sound
	}
	return raw
}

// soundList replaces objects of a list. What is no list is left to the client.
func (k kind) soundList(raw []byte) []byte {
	var list map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || json.Unmarshal(list["items"], &items) != nil {
		return raw
	}
	replaced := false
	for i, item := range items {
		if k.decode(item) == nil {
			continue
		}
		if sound, err := k.sound(item); err == nil {
			items[i], replaced = sound, true
		}
	}
	if !replaced {
		return raw
	}
	var err error
	if list["items"], err = json.Marshal(items); err != nil {
		return raw
	}
	if sound, err := json.Marshal(list); err == nil {
		return sound
	}
	return raw
}

// frames is the body of a watch: one JSON object per event.
type frames struct {
	kind    kind
	body    io.Closer
	decoder *json.Decoder
	ready   []byte
}

// Read implements io.Reader.
func (f *frames) Read(p []byte) (int, error) {
	if len(f.ready) == 0 {
		var raw json.RawMessage
		if err := f.decoder.Decode(&raw); err != nil {
			return 0, err
		}
		f.ready = append(f.kind.soundEvent(raw), '\n')
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// Close implements io.Closer.
func (f *frames) Close() error { return f.body.Close() }

// soundEvent replaces the object of an event. Bookmarks and errors have none.
func (k kind) soundEvent(raw []byte) []byte {
	var event struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if json.Unmarshal(raw, &event) != nil || event.Type == "BOOKMARK" || event.Type == "ERROR" {
		return raw
	}
	sound, err := k.sound(event.Object)
	if err != nil || bytes.Equal(sound, event.Object) {
		return raw
	}
	event.Object = sound
	if replaced, err := json.Marshal(event); err == nil {
		return replaced
	}
	return raw
}
