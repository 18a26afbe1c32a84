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
	kind, ok := listed(request)
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
	raw = kind.soundList(raw)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	response.Header.Set("Content-Length", strconv.Itoa(len(raw)))
	return response, nil
}

// listed returns the kind that a request lists or watches. Metadata alone can always be decoded.
func listed(request *http.Request) (kind, bool) {
	if request.Method != http.MethodGet || strings.Contains(request.Header.Get("Accept"), "as=") {
		return kind{}, false
	}
	for _, k := range kinds {
		_, rest, ok := strings.Cut(request.URL.Path, k.path)
		if ok && (rest == k.resource || strings.HasPrefix(rest, "namespaces/") && strings.Count(rest, "/") == 2 && strings.HasSuffix(rest, "/"+k.resource)) {
			return k, true
		}
	}
	return kind{}, false
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
