package lint_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// mutant is an object with one change.
type mutant struct {
	name    string
	content map[string]any
	aimed   bool // at a rule of the schema
}

// place is a value in an object, and how to have another there: put returns a copy of the whole object.
type place struct {
	path   string
	value  any
	schema *structuralschema.Structural
	put    func(any) map[string]any
	drop   func() map[string]any // nil if it cannot be left out
}

// mutate returns the object with each change that this file knows, one at a time, at every place of its spec.
func mutate(object map[string]any, schema *structuralschema.Structural) (all []mutant) {
	if schema == nil {
		return nil
	}
	spec := schema.Properties["spec"]
	with := func(value any) map[string]any {
		copied := maps.Clone(object)
		copied["spec"] = value
		return copied
	}
	root := place{path: "spec", value: object["spec"], schema: &spec, put: with, drop: func() map[string]any {
		copied := maps.Clone(object)
		delete(copied, "spec")
		return copied
	}}
	walk(root, func(p place) {
		all = append(all, aimed(p)...)
		all = append(all, careless(p)...)
	})
	return all
}

func walk(p place, visit func(place)) {
	visit(p)
	switch value := p.value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			schema := below(p.schema, key)
			if schema == nil {
				continue
			}
			walk(place{p.path + "." + key, value[key], schema, func(v any) map[string]any {
				copied := maps.Clone(value)
				copied[key] = v
				return p.put(copied)
			}, func() map[string]any {
				copied := maps.Clone(value)
				delete(copied, key)
				return p.put(copied)
			}}, visit)
		}
	case []any:
		for i := range value {
			if p.schema.Items == nil {
				break
			}
			walk(place{fmt.Sprintf("%s[%d]", p.path, i), value[i], p.schema.Items, func(v any) map[string]any {
				copied := slices.Clone(value)
				copied[i] = v
				return p.put(copied)
			}, nil}, visit)
		}
	}
}

func below(s *structuralschema.Structural, key string) *structuralschema.Structural {
	if property, ok := s.Properties[key]; ok {
		return &property
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// aimed breaks each rule of the schema at the place.
func aimed(p place) (all []mutant) {
	v := p.schema.ValueValidation
	if v == nil {
		v = &structuralschema.ValueValidation{}
	}
	put := func(what string, value any) { all = append(all, mutant{p.path + " " + what, p.put(value), true}) }
	if v.Minimum != nil {
		put("too low", int64(*v.Minimum)-1)
	}
	if v.Maximum != nil {
		put("too high", int64(*v.Maximum)+1)
	}
	if len(v.Enum) > 0 {
		put("unknown value", "nope")
	}
	if v.MinLength != nil && *v.MinLength > 0 {
		put("too short", strings.Repeat("a", int(*v.MinLength)-1))
	}
	if v.MaxLength != nil {
		put("too long", strings.Repeat("a", int(*v.MaxLength)+1))
		put("long in bytes alone", strings.Repeat("é", int(*v.MaxLength)))
	}
	switch value := p.value.(type) {
	case []any:
		all = append(all, aimedAtList(p, v, value)...)
	case map[string]any:
		if v.MaxProperties != nil {
			many := map[string]any{}
			for i := range *v.MaxProperties + 1 {
				many[fmt.Sprintf("example.com/k%d", i)] = "1"
			}
			put("with too many keys", many)
		}
		for _, name := range v.Required {
			copied := maps.Clone(value)
			delete(copied, name)
			put("without "+name, copied)
		}
	}
	for what, other := range map[string]any{"integer": "text", "string": int64(7), "boolean": "yes", "array": "text", "object": "text"} {
		if p.schema.Type == what {
			put("of another type", other)
		}
	}
	if p.schema.XIntOrString {
		put("of another type", true)
	}
	return all
}

func aimedAtList(p place, v *structuralschema.ValueValidation, value []any) (all []mutant) {
	put := func(what string, value any) { all = append(all, mutant{p.path + " " + what, p.put(value), true}) }
	if v.MinItems != nil && *v.MinItems > 0 {
		put("too few", []any{})
	}
	if len(value) == 0 {
		return all
	}
	if v.MaxItems != nil {
		put("too many", slices.Repeat(value[:1], int(*v.MaxItems)+1))
	}
	put("with one twice", append(slices.Clone(value), value[0]))
	return all
}

// careless makes mistakes that are not about a rule at the place.
func careless(p place) (all []mutant) {
	put := func(what string, value any) { all = append(all, mutant{p.path + " " + what, p.put(value), false}) }
	if p.drop != nil {
		all = append(all, mutant{p.path + " left out", p.drop(), false})
	}
	for what, value := range map[string]any{
		"null": nil, "a number": int64(5), "a negative number": int64(-5), "a fraction": 1.5, "a huge number": int64(1) << 62,
		"an exponent": 1e30, "a truth": true, "empty text": "", "text": "9", "spaces": " a ", "unicode": "ｗｅｂ\u2028\U0001F600",
		"a quote": `"<&>%s` + "\n", "a list": []any{}, "a list of a list": []any{[]any{"a"}}, "a map": map[string]any{}, "a map of a map": map[string]any{"a": map[string]any{"b": nil}},
	} {
		put(what, value)
	}
	if value, ok := p.value.(map[string]any); ok {
		copied := maps.Clone(value)
		copied["unknown"] = map[string]any{"a": []any{int64(1)}}
		put("with an unknown field", copied)
		for key := range value {
			copied := maps.Clone(value)
			delete(copied, key)
			copied[strings.ToUpper(key[:1])+key[1:]] = value[key]
			put("with "+key+" in another case", copied)
		}
	}
	slices.SortFunc(all, func(a, b mutant) int { return strings.Compare(a.name, b.name) })
	return all
}
