package conversion

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// merger applies the edits of a v1alpha1 client to a v1beta1 spec.
type merger struct {
	// doubts are the windows in the v1beta1 spec of which nobody can tell what became of them.
	doubts []Window
}

// Window is a window of a v1beta1 object.
type Window struct {
	Path string // such as spec.windows[0]
	Name string // "" if it has none
}

// merge returns original with the edits. base is the v1alpha1 view of original, and edited the view after the edits. Field
// by field, edits win, unchanged fields keep the value in original, and so do fields that the view does not show. No
// argument is changed.
func (m *merger) merge(base, edited, original any, path string) any {
	if Same(base, edited) {
		return original
	}
	switch b := base.(type) {
	case map[string]any:
		e, isObject := edited.(map[string]any)
		if o, ok := original.(map[string]any); ok && isObject {
			return m.mergeObjects(b, e, o, path)
		}
	case []any:
		e, isList := edited.([]any)
		if o, ok := original.([]any); ok && isList && len(b) == len(o) {
			return m.mergeLists(b, e, o, path)
		}
	}
	return edited
}

func (m *merger) mergeObjects(base, edited, original map[string]any, path string) map[string]any {
	merged := maps.Clone(original)
	for name := range base {
		if _, kept := edited[name]; !kept {
			delete(merged, name)
		}
	}
	for name, value := range edited {
		if before, shown := base[name]; shown {
			merged[name] = m.merge(before, value, original[name], path+"."+name)
		} else {
			merged[name] = value
		}
	}
	return merged
}

func (m *merger) mergeLists(base, edited, original []any, path string) []any {
	matched := matchItems(base, edited, original)
	merged := make([]any, len(edited))
	for j, i := range matched.origin {
		if i < 0 {
			merged[j] = edited[j]
		} else {
			merged[j] = m.merge(base[i], edited[j], original[i], itemPath(path, j))
		}
	}
	for i, doubtful := range matched.doubtful {
		if doubtful {
			window, _ := original[i].(map[string]any)
			name, _ := window["name"].(string)
			m.doubts = append(m.doubts, Window{itemPath(path, i), name})
		}
	}
	return merged
}

func itemPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Same compares decoded JSON with json.Number by meaning: the order of names and the format of numbers do not
// matter; absent, null and empty differ.
func Same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Same)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Same)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(string(a), string(b)))
	default:
		return a == b
	}
}

func sameNumber(a, b string) bool {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	if errX == nil && errY == nil {
		return x == y
	}
	f, errF := strconv.ParseFloat(a, 64)
	g, errG := strconv.ParseFloat(b, 64)
	return errF == nil && errG == nil && f == g
}
