package api

import (
	"fmt"
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"pgregory.net/rapid"
)

// values are strings that mostly pass the CEL rules, by field. All other strings are odd.
var values = map[string][]string{
	"timezone":           {"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"},
	"start":              {"00:00", "09:00", "22:30"},
	"end":                {"17:00", "00:00", "24:00", "24:00", "06:59"},
	"kind":               {"Deployment", "Deployment", "StatefulSet", "DaemonSet"},
	"apiVersion":         {"apps/v1"},
	"value":              {"0.5", "500m", "1k"},
	"averageValue":       {"30", "1e3"},
	"key":                {"queue", "example.com/tier"},
	"values":             {"mail", "a.b-c", ""},
	"matchLabels":        {"queue", "tier", "x.y-z"},
	"lastTransitionTime": {"2026-11-21T09:00:00Z"},
	"nextBoundary":       {"2026-11-21T10:00:00.120+01:00", "2026-11-21T09:00:00Z"},
	"lastScaleTime":      {"2026-11-21T09:00:00Z"},
	"gracePeriodExpiry":  {"2026-11-21T09:00:00Z"},
	"time":               {"2026-11-21T09:00:00Z"},
}

// odd strings change in careless conversions.
var odd = []string{"", "a", "web-1", "0", "null", "<&>", "\u2028é", "1.50", "  ", `{"spec":{}}`, "50%"}

// valueOf draws a value that the schema allows: each optional field may be absent, and lists and maps may be empty or
// have up to 4 items.
func valueOf(t *rapid.T, s *structuralschema.Structural, name string) any {
	v := s.ValueValidation
	if v == nil {
		v = &structuralschema.ValueValidation{}
	}
	if len(v.Enum) > 0 {
		return v.Enum[rapid.IntRange(0, len(v.Enum)-1).Draw(t, name)].Object
	}
	if s.XIntOrString {
		if rapid.Bool().Draw(t, name+" as percentage") {
			return fmt.Sprintf("%d%%", rapid.IntRange(0, 1000).Draw(t, name))
		}
		return rapid.Int64Range(0, 50).Draw(t, name)
	}
	switch s.Type {
	case "object":
		return objectOf(t, s, v, name)
	case "array":
		least, most := 0, 4
		if v.MinItems != nil {
			least = int(*v.MinItems)
		}
		list := []any{}
		for range rapid.IntRange(least, most).Draw(t, name+" length") {
			item := valueOf(t, s.Items, name)
			if !slices.ContainsFunc(list, func(other any) bool { return fmt.Sprint(other) == fmt.Sprint(item) }) {
				list = append(list, item)
			}
		}
		return list
	case "integer":
		return rapid.Int64Range(1, 50).Draw(t, name)
	case "boolean":
		return rapid.Bool().Draw(t, name)
	}
	if known := values[name]; known != nil {
		return rapid.SampledFrom(known).Draw(t, name)
	}
	if name == "name" {
		return rapid.StringMatching(`[a-z]{1,6}`).Draw(t, name)
	}
	return rapid.SampledFrom(odd).Draw(t, name)
}

func objectOf(t *rapid.T, s *structuralschema.Structural, v *structuralschema.ValueValidation, name string) any {
	object := map[string]any{}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		for range rapid.IntRange(0, 3).Draw(t, name+" size") {
			keys := values[name]
			if keys == nil {
				keys = odd
			}
			object[rapid.SampledFrom(keys).Draw(t, "key")] = valueOf(t, s.AdditionalProperties.Structural, name)
		}
	}
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(v.Required, property) || rapid.IntRange(0, 2).Draw(t, "has "+property) > 0 {
			below := s.Properties[property]
			object[property] = valueOf(t, &below, property)
		}
	}
	return object
}

// scalerOf draws an object of one version, with or without a status.
func scalerOf(t *rapid.T, s *structuralschema.Structural, version string) map[string]any {
	object := map[string]any{"apiVersion": "kyklos.io/" + version, "kind": "TimeWindowScaler", "metadata": metadataOf(t)}
	spec, status := s.Properties["spec"], s.Properties["status"]
	object["spec"] = valueOf(t, &spec, "spec")
	if version == "v1alpha1" {
		withoutMidnight24(object["spec"].(map[string]any))
	}
	if rapid.Bool().Draw(t, "has status") {
		object["status"] = valueOf(t, &status, "status")
	}
	return object
}

func metadataOf(t *rapid.T) map[string]any {
	metadata := map[string]any{"name": "office", "namespace": "shop", "uid": "1-2", "generation": int64(7)}
	switch rapid.IntRange(0, 3).Draw(t, "annotations") {
	case 1:
		metadata["annotations"] = map[string]any{}
	case 2:
		metadata["annotations"] = map[string]any{"note": rapid.SampledFrom(odd).Draw(t, "note")}
	}
	if rapid.Bool().Draw(t, "managed") {
		metadata["managedFields"] = []any{map[string]any{"manager": "kubectl", "fieldsV1": map[string]any{"f:spec": map[string]any{".": map[string]any{}}}}}
	}
	return metadata
}

// withoutMidnight24 removes 24:00, which the rules of v1alpha1 refuse.
func withoutMidnight24(spec map[string]any) {
	for _, window := range spec["windows"].([]any) {
		if w := window.(map[string]any); w["end"] == "24:00" {
			w["end"] = "12:00"
		}
	}
}

// likely makes it more likely that a drawn v1beta1 spec passes the rules.
func likely(spec map[string]any) {
	spec["baselineReplicas"] = int64(3)
	for _, window := range spec["windows"].([]any) {
		metric, ok := window.(map[string]any)["metric"].(map[string]any)
		if !ok {
			continue
		}
		metric["maxReplicas"] = int64(50)
		target := metric["target"].(map[string]any)
		given, other := "value", "averageValue"
		if target["type"] == "AverageValue" {
			given, other = other, given
		}
		delete(target, other)
		target[given] = "0.50"
	}
}
