package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/webhooks/conversion"
)

// The greatest spec that the schema allows leaves more than a fifth of the 256 KiB for annotations to others.
func TestTheGreatestSpecFitsItsAnnotation(t *testing.T) {
	schema := newValidator(t, "timewindowscalers.kyklos.io", "v1beta1").structural
	spec := greatest(schema.Properties, "spec").(map[string]any)
	for _, window := range spec["windows"].([]any)[20:] { // no more windows than that may have a metric
		delete(window.(map[string]any), "metric")
	}
	hub, err := json.Marshal(map[string]any{"apiVersion": "kyklos.io/v1beta1", "kind": "TimeWindowScaler", "metadata": map[string]any{"name": "a"}, "spec": spec})
	harness.Must(t, err)
	spoke, err := conversion.ToV1alpha1(hub)
	harness.Must(t, err)
	var object struct {
		Metadata struct{ Annotations map[string]string }
	}
	harness.Must(t, json.Unmarshal(spoke, &object))
	size := len(object.Metadata.Annotations[conversion.Annotation])
	t.Logf("the greatest annotation has %d KiB", size>>10)
	if size < 100<<10 || size > 200<<10 {
		t.Errorf("%d bytes", size)
	}
}

// greatest returns the largest value of the property that its schema allows.
func greatest(properties map[string]structuralschema.Structural, name string) any {
	s := properties[name]
	return greatestOf(&s)
}

func greatestOf(s *structuralschema.Structural) any {
	v := s.ValueValidation
	switch {
	case v != nil && len(v.Enum) > 0:
		return v.Enum[0].Object
	case s.XIntOrString:
		return "1000%"
	case s.Type == "integer":
		return 2147483647
	case s.Type == "boolean":
		return false
	case s.Type == "string":
		return strings.Repeat("a", int(*v.MaxLength))
	case s.Type == "array":
		items := make([]any, *v.MaxItems)
		for i := range items {
			items[i] = greatestOf(s.Items)
		}
		return items
	}
	object := map[string]any{}
	for name := range s.Properties {
		object[name] = greatest(s.Properties, name)
	}
	if s.AdditionalProperties != nil {
		const longestLabel = 317 // a CEL rule says so
		for i := range *v.MaxProperties {
			key := strconv.Itoa(int(i))
			object[key+strings.Repeat("a", longestLabel-len(key))] = greatestOf(s.AdditionalProperties.Structural)
		}
	}
	return object
}
