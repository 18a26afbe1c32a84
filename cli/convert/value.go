package convert

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	k8syaml "sigs.k8s.io/yaml"
)

// read reads YAML or JSON as the API server does; numbers stay as they are written in the JSON that YAML becomes.
func read(text []byte) (any, error) {
	asJSON, err := k8syaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	return fromJSON(asJSON)
}

// fromJSON reads JSON; numbers stay as they are written.
func fromJSON(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return value, decoder.Decode(&value)
}

// toJSON is the opposite of fromJSON, names in the order of people where they are known.
func toJSON(value any) string {
	var out bytes.Buffer
	writeJSON(&out, value)
	return out.String()
}

// writeJSON writes JSON on one line, with a space behind each comma and colon.
func writeJSON(out *bytes.Buffer, value any) {
	switch v := value.(type) {
	case map[string]any:
		out.WriteByte('{')
		for i, name := range names(v) {
			if i > 0 {
				out.WriteString(", ")
			}
			writeJSON(out, name)
			out.WriteString(": ")
			writeJSON(out, v[name])
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for i := range v {
			if i > 0 {
				out.WriteString(", ")
			}
			writeJSON(out, v[i])
		}
		out.WriteByte(']')
	default:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(v) // a scalar that was decoded from JSON
		out.Truncate(out.Len() - 1)
	}
}

// order is that in which people write the fields of a scaler. No field is in two places of it.
var order = []string{"apiVersion", "kind", "metadata", "name", "namespace", "labels", "annotations", "spec",
	"targetRef", "timezone", "baselineReplicas", "defaultReplicas", "windows", "days", "start", "end", "replicas",
	"metric", "selector", "target", "minReplicas", "maxReplicas", "holidays", "mode", "sourceRef", "gracePeriodSeconds",
	"pause", "workspace", "status"}

// rank is the place of a field in order; those that are not in it come last.
func rank(name string) int {
	if at := slices.Index(order, name); at >= 0 {
		return at
	}
	return len(order)
}

// names are those of the fields of an object, in order, and by the alphabet where that says nothing.
func names(object map[string]any) []string {
	return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(object))), func(a, b string) int {
		return rank(a) - rank(b)
	})
}
