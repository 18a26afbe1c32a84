package docs

import (
	"fmt"
	"math"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// Every refusal of the schema and the CEL rules has a sample.
func TestEveryRuleHasARefusedSample(t *testing.T) {
	newer := readSamples(t, "invalid/*.yaml")
	for kind, samples := range map[string]map[string][]sample{
		"timewindowscalers": {
			"v1beta1":  newer,
			"v1alpha1": append(readSamples(t, "invalid/v1alpha1/*.yaml"), inV1alpha1(t, newer)...),
		},
		"workspaces": {"v1alpha1": readSamples(t, "workspaces/invalid/*.yaml")},
	} {
		for _, version := range definition(t, kind).Spec.Versions {
			var shown strings.Builder
			for _, s := range samples[version.Name] {
				if len(s.expect) == 0 {
					t.Errorf("%s expects no message", s.name)
				}
				shown.WriteString(strings.Join(s.expect, "\n") + "\n")
			}
			spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
			for _, want := range refusable(spec, "spec") {
				if !strings.Contains(shown.String(), want) {
					t.Errorf("%s, %s: no sample expects %q", kind, version.Name, want)
				}
			}
		}
	}
}

func definition(t *testing.T, kind string) (crd apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	harness.Must(t, yaml.Unmarshal([]byte(readText(t, "config/crd/bases/kyklos.io_"+kind+".yaml")), &crd))
	return crd
}

// refusable returns the beginning of each message, or the whole message of a rule, with which schema can refuse a value
// at path.
func refusable(schema apiextensionsv1.JSONSchemaProps, path string) []string {
	var messages []string
	add := func(applies bool, format string, args ...any) {
		if applies {
			messages = append(messages, fmt.Sprintf(format, args...))
		}
	}
	add(schema.MaxLength != nil, "%s: Too long", path)
	add(schema.MinLength != nil, "%s in body should be at least", path)
	add(schema.MaxItems != nil || schema.MaxProperties != nil, "%s: Too many", path)
	add(schema.MinItems != nil, "%s in body should have at least", path)
	add(schema.Minimum != nil && !boundOfItsType(*schema.Minimum), "%s in body should be greater than or equal to", path)
	add(schema.Maximum != nil && !boundOfItsType(*schema.Maximum), "%s in body should be less than or equal to", path)
	add(schema.Pattern != "", "%s in body should match", path)
	add(schema.Enum != nil, "%s: Unsupported value", path)
	add(schema.XListType != nil && *schema.XListType == "set", "%s[2]: Duplicate value", path)
	for _, rule := range schema.XValidations {
		messages = append(messages, rule.Message)
	}
	for _, name := range schema.Required {
		messages = append(messages, path+"."+name+": Required value")
	}
	for name, property := range schema.Properties {
		messages = append(messages, refusable(property, path+"."+name)...)
	}
	if schema.AdditionalProperties != nil {
		messages = append(messages, refusable(*schema.AdditionalProperties.Schema, path+".queue")...)
	}
	if schema.Items != nil {
		messages = append(messages, refusable(*schema.Items.Schema, path+"[0]")...)
	}
	return messages
}

// boundOfItsType reports whether bound is the least or greatest number of 32 bits, or that JSON can carry exactly: not a rule for
// users, but what Go can decode.
func boundOfItsType(bound float64) bool {
	const exact = 1<<53 - 1
	return bound == math.MaxInt32 || bound == math.MinInt32 || bound == exact || bound == -exact
}
