package ruleset

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/manifest"
)

// reworded has the errors of the API server that do not say what to write in words that do. It never drops an error without one at
// the same field or around it.
func (r *run) reworded(object *manifest.Object, errs []apiserver.Error) []apiserver.Error {
	if len(errs) == 0 {
		return nil
	}
	kind := object.GroupVersionKind()
	schema := r.Server.Schema(kind)
	if schema == nil {
		field, reason := manifest.Unserved(kind, r.Server.Kinds())
		return []apiserver.Error{{Rule: lint.Invalid, Field: field, Message: reason}}
	}
	if undecoded.MatchString(errs[0].Message) {
		if mistyped := mistypedMetadata(object); len(mistyped) > 0 {
			return mistyped
		}
	}
	errs = slices.Clone(errs)
	for i := range errs {
		errs[i].Message += quotesHint(object, errs[i])
	}
	return withMisfits(errs, misfits(object, schema))
}

// undecoded are the messages of Go's decoder. It stops at the first mistake in metadata.
var undecoded = regexp.MustCompile(`^(json: cannot unmarshal|parsing time|Time\.UnmarshalJSON)`)

// misfit is a list or an object where the schema wants something else.
type misfit struct{ path, message string }

// covers reports whether an error is about what is within the misfit, which the schema cannot know.
func (m misfit) covers(e apiserver.Error) bool {
	below, ok := strings.CutPrefix(e.Field, m.path)
	return ok && below != "" && strings.ContainsAny(below[:1], ".[") && (e.Rule == lint.UnknownField || e.Rule == lint.DuplicateField)
}

// withMisfits replaces the errors within misfits: the API server reports each field there as unknown.
func withMisfits(errs []apiserver.Error, all []misfit) (kept []apiserver.Error) {
	reported := make(map[misfit]bool)
	for _, e := range errs {
		i := slices.IndexFunc(all, func(m misfit) bool { return m.covers(e) })
		if i < 0 {
			kept = append(kept, e)
		} else if m := all[i]; !reported[m] {
			reported[m] = true
			kept = append(kept, apiserver.Error{Rule: lint.Invalid, Field: m.path, Message: m.message})
		}
	}
	return kept
}

// misfits finds those in all fields but metadata.
func misfits(object *manifest.Object, schema *structuralschema.Structural) (all []misfit) {
	for name := range schema.Properties {
		if name != "metadata" {
			property := schema.Properties[name]
			all = append(all, misfitsBelow(object, object.Object[name], &property, name)...)
		}
	}
	return all
}

func misfitsBelow(object *manifest.Object, value any, schema *structuralschema.Structural, path string) (all []misfit) {
	if schema == nil {
		return nil
	}
	want := wanted(schema)
	switch value := value.(type) {
	case map[string]any:
		if want != manifest.WantObject {
			return []misfit{{path, object.MustBe(want, path, value)}}
		}
		for name, one := range value {
			all = append(all, misfitsBelow(object, one, child(schema, name), path+"."+name)...)
		}
	case []any:
		if want != manifest.WantList {
			return []misfit{{path, object.MustBe(want, path, value)}}
		}
		for i, one := range value {
			all = append(all, misfitsBelow(object, one, schema.Items, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return all
}

// child is the schema of a field, nil if there is none.
func child(schema *structuralschema.Structural, name string) *structuralschema.Structural {
	if schema == nil {
		return nil
	}
	if known, ok := schema.Properties[name]; ok {
		return &known
	}
	if schema.AdditionalProperties != nil {
		return schema.AdditionalProperties.Structural
	}
	return nil
}

// wanted is the type of a field; where the schema leaves it open, an object.
func wanted(schema *structuralschema.Structural) manifest.Want {
	if schema.XIntOrString {
		return manifest.WantNumberOrString
	}
	types := map[string]manifest.Want{
		"array": manifest.WantList, "string": manifest.WantString, "integer": manifest.WantInteger, "number": manifest.WantNumber, "boolean": manifest.WantBoolean,
	}
	if want, ok := types[schema.Type]; ok {
		return want
	}
	return manifest.WantObject
}
