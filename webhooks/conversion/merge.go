package conversion

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// merge brings what a v1alpha1 client changed into the v1beta1 spec. base is the view of ours, theirs
// the v1alpha1 spec as it is now, ours the v1beta1 spec that the view was made from. Field by field:
// what theirs left as base has it is as ours has it; what theirs changed, added or took away is
// changed, added or taken away; and what base does not show stays. No argument is changed.
func merge(base, theirs, ours any) any {
	if Same(base, theirs) {
		return ours
	}
	switch b := base.(type) {
	case map[string]any:
		t, isObject := theirs.(map[string]any)
		if o, ok := ours.(map[string]any); ok && isObject {
			return mergeObjects(b, t, o)
		}
	case []any:
		t, isList := theirs.([]any)
		if o, ok := ours.([]any); ok && isList && len(b) == len(o) {
			return mergeLists(b, t, o)
		}
	}
	return theirs
}

func mergeObjects(base, theirs, ours map[string]any) map[string]any {
	merged := maps.Clone(ours)
	for name := range base {
		if _, stays := theirs[name]; !stays {
			delete(merged, name)
		}
	}
	for name, value := range theirs {
		if before, shown := base[name]; shown {
			merged[name] = merge(before, value, ours[name])
		} else {
			merged[name] = value
		}
	}
	return merged
}

// mergeLists gives each item of theirs what v1alpha1 could not say of the item of base that it was.
func mergeLists(base, theirs, ours []any) []any {
	merged := make([]any, len(theirs))
	for j, i := range align(base, theirs) {
		if i < 0 {
			merged[j] = theirs[j]
		} else {
			merged[j] = merge(base[i], theirs[j], ours[i])
		}
	}
	return merged
}

// Same compares JSON, with its numbers as json.Number, by meaning: the order of names and the spelling of numbers do not matter, and absent,
// null and empty differ.
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
