package lint_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"kyklos.io/kyklos/cli/manifest"
)

// The API server refused something by every rule of the definitions, those of status apart: users cannot
// write it, and the server drops it unread. So the comparison covers every message of the rules.
func TestEveryRuleIsBroken(t *testing.T) {
	all := trials(t)
	schemas, err := structurals()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for kind, schema := range schemas {
		unbroken := rulesOf(schema, "")
		total += len(unbroken)
		for _, trial := range all {
			if trial.object.GroupVersionKind() == kind {
				strike(unbroken, schema, trial.answer.refusals)
			}
		}
		for _, rule := range slices.Sorted(maps.Keys(unbroken)) {
			t.Errorf("%s: nothing broke %s", kind, rule)
		}
	}
	t.Logf("%d rules", total)
	if total < 300 {
		t.Error("too few rules were found")
	}
}

// phrases are the beginnings, or ends, of the messages by rule of a schema.
var phrases = map[string]string{
	"type": "must be of type ", "enum": "Unsupported value: ", "minimum": "should be greater than or equal to ", "maximum": "should be less than or equal to ",
	"minLength": "should be at least ", "maxLength": "Too long: ", "minItems": "should have at least ", "maxItems": "Too many: ",
	"maxProperties": "Too many: ", "required": "Required value", "unique": "Duplicate value: ",
}

// rulesOf are the rules at path and below: "PATH RULE" and the phrase of a refusal; PATH is without indices and keys.
func rulesOf(s *structuralschema.Structural, path string) map[string]string {
	rules := map[string]string{}
	add := func(path, rule, says string) { rules[path+" "+rule] = says }
	if v := s.ValueValidation; v != nil {
		for rule, has := range map[string]bool{
			"enum": len(v.Enum) > 0, "minimum": v.Minimum != nil, "maximum": v.Maximum != nil, "minLength": v.MinLength != nil && *v.MinLength > 0,
			"maxLength": v.MaxLength != nil, "minItems": v.MinItems != nil && *v.MinItems > 0, "maxItems": v.MaxItems != nil, "maxProperties": v.MaxProperties != nil,
		} {
			if has {
				add(path, rule, phrases[rule])
			}
		}
		for _, name := range v.Required {
			add(strings.TrimPrefix(path+"."+name, "."), "required", phrases["required"])
		}
	}
	if path != "" && (s.Type != "" || s.XIntOrString) {
		add(path, "type", phrases["type"])
	}
	if s.XListType != nil && *s.XListType != "atomic" {
		add(path+"[*]", "unique", phrases["unique"])
	}
	for _, rule := range s.XValidations {
		add(strings.TrimPrefix(path+rule.FieldPath, "."), "CEL: "+rule.Message, rule.Message)
	}
	for name, property := range s.Properties {
		if path == "" && name != "spec" {
			continue
		}
		maps.Copy(rules, rulesOf(&property, strings.TrimPrefix(path+"."+name, ".")))
	}
	if s.Items != nil {
		maps.Copy(rules, rulesOf(s.Items, path+"[*]"))
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		maps.Copy(rules, rulesOf(s.AdditionalProperties.Structural, path+".*"))
	}
	return rules
}

// strike takes the rules out that the refusals are of.
func strike(unbroken map[string]string, s *structuralschema.Structural, refusals []refusal) {
	for _, r := range refusals {
		path := pattern(s, r.Field)
		for rule, says := range unbroken {
			at, _, _ := strings.Cut(rule, " ")
			fails := strings.HasSuffix(r.Message, " evaluating rule: "+says) && strings.HasPrefix(at, path+".") // of a rule that ends in an error, fieldPath is not used
			if strings.Contains(r.Message, says) && (at == path || fails) {
				delete(unbroken, rule)
			}
		}
	}
}

// pattern is a field's path without indices and keys.
func pattern(s *structuralschema.Structural, path string) string {
	var all strings.Builder
	for _, step := range manifest.Steps(path) {
		if s == nil {
			return path
		}
		if property, ok := s.Properties[step]; ok {
			all.WriteString("." + step)
			s = &property
			continue
		}
		switch {
		case s.Items != nil:
			all.WriteString("[*]")
			s = s.Items
		case s.AdditionalProperties != nil:
			all.WriteString(".*")
			s = s.AdditionalProperties.Structural
		default:
			return path
		}
	}
	return strings.TrimPrefix(all.String(), ".")
}
