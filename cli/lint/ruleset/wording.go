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
	if why, ok := manifest.Unserved(kind, r.Server.Kinds()); ok {
		return []apiserver.Error{invalid(why)}
	}
	if undecoded.MatchString(errs[0].Message) {
		if found := object.MistypedMetadata(); len(found) > 0 {
			errs = nil
			for _, one := range found {
				errs = append(errs, invalid(one))
			}
			return errs
		}
	}
	errs = slices.Clone(errs)
	for i := range errs {
		errs[i].Message += quotesHint(object, errs[i])
	}
	return withMisfits(errs, misfits(object, r.Server.Schema(kind)))
}

func invalid(m manifest.Mistake) apiserver.Error {
	return apiserver.Error{Rule: lint.Invalid, Field: m.Field, Message: m.Reason}
}

// undecoded are the messages of Go's decoder. It stops at the first mistake in metadata.
var undecoded = regexp.MustCompile(`^(json: cannot unmarshal|parsing time|Time\.UnmarshalJSON)`)

// covers reports whether an error is about what is within a misfit, which the schema cannot know.
func covers(misfit manifest.Mistake, e apiserver.Error) bool {
	below, ok := strings.CutPrefix(e.Field, misfit.Field)
	return ok && below != "" && strings.ContainsAny(below[:1], ".[") && (e.Rule == lint.UnknownField || e.Rule == lint.DuplicateField)
}

// withMisfits replaces the errors within misfits: the API server reports each field there as unknown.
func withMisfits(errs []apiserver.Error, all []manifest.Mistake) (kept []apiserver.Error) {
	reported := make(map[manifest.Mistake]bool)
	for _, e := range errs {
		i := slices.IndexFunc(all, func(m manifest.Mistake) bool { return covers(m, e) })
		if i < 0 {
			kept = append(kept, e)
		} else if m := all[i]; !reported[m] {
			reported[m] = true
			kept = append(kept, invalid(m))
		}
	}
	return kept
}

// misfits are lists and objects where the schema wants something else, in all fields but metadata.
func misfits(object *manifest.Object, schema *structuralschema.Structural) (all []manifest.Mistake) {
	for name := range schema.Properties {
		if name != "metadata" {
			property := schema.Properties[name]
			all = append(all, misfitsBelow(object, object.Object[name], &property, name)...)
		}
	}
	return all
}

func misfitsBelow(object *manifest.Object, value any, schema *structuralschema.Structural, path string) (all []manifest.Mistake) {
	if schema == nil {
		return nil
	}
	want := wanted(schema)
	switch value := value.(type) {
	case map[string]any:
		if want != manifest.WantObject {
			return []manifest.Mistake{{Field: path, Reason: object.MustBe(want, path, value)}}
		}
		for name, one := range value {
			all = append(all, misfitsBelow(object, one, child(schema, name), path+"."+name)...)
		}
	case []any:
		if want != manifest.WantList && want != manifest.WantObjects {
			return []manifest.Mistake{{Field: path, Reason: object.MustBe(want, path, value)}}
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
	if schema.Items != nil && wanted(schema.Items) == manifest.WantObject {
		return manifest.WantObjects
	}
	types := map[string]manifest.Want{
		"array": manifest.WantList, "string": manifest.WantString, "integer": manifest.WantInteger, "number": manifest.WantNumber, "boolean": manifest.WantBoolean,
	}
	if want, ok := types[schema.Type]; ok {
		return want
	}
	return manifest.WantObject
}
