package admission

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// kindErrors refuses a kind that does not exist or cannot be scaled (A3). The error stands at the field
// to change: at apiVersion where the same kind of another group or version is meant.
func kindErrors(ref v1beta1.TargetRef, path *field.Path, facts Facts) field.ErrorList {
	if facts.Unscalable == nil {
		return nil
	}
	var unknown *targetkind.UnknownError
	if errors.As(facts.Unscalable, &unknown) && len(unknown.Elsewhere) > 0 && unknown.Elsewhere[0].Kind == unknown.Kind.Kind {
		return field.ErrorList{field.Invalid(path.Child("apiVersion"), ref.APIVersion, facts.Unscalable.Error())}
	}
	return field.ErrorList{field.Invalid(path.Child("kind"), ref.Kind, facts.Unscalable.Error())}
}

// keptKindWarnings says what kindErrors would have refused, had the update caused it.
func keptKindWarnings(ref v1beta1.TargetRef, path *field.Path, facts Facts) []string {
	if facts.Unscalable == nil {
		return nil
	}
	kind, version := shorten(ref.Kind), shorten(targetkind.Of(ref).GroupVersion().String())
	if unknown := (*targetkind.UnknownError)(nil); errors.As(facts.Unscalable, &unknown) {
		return []string{fmt.Sprintf("%s: %s has no %s: nothing is scaled until it has", path.Child("kind"), version, kind)}
	}
	return []string{fmt.Sprintf("%s: %s of %s cannot be scaled: nothing is done while this is the target", path.Child("kind"), kind, version)}
}

// permissionWarnings says that Kyklos cannot do its work for want of a permission, and how it gets it.
func permissionWarnings(path *field.Path, facts Facts) []string {
	if facts.Forbidden == nil {
		return nil
	}
	kind := facts.Forbidden.Kind
	return []string{fmt.Sprintf("%s: Kyklos has no permission to scale %s: allow it by a ClusterRole with the label %s: \"true\", as docs/targets.md shows",
		path.Child("kind"), shorten(schema.GroupResource{Group: kind.Group, Resource: kind.Resource}.String()), targetkind.AggregationLabel)}
}
