package admission

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// targetErrors holds the two rules about the target that need more than the spec: its namespace is
// the object's own (R5), and nobody else has it (B8).
func targetErrors(obj *v1beta1.TimeWindowScaler, path *field.Path, facts Facts) field.ErrorList {
	ref := obj.Spec.TargetRef
	if err := schedule.NamespaceError(obj, path); err != nil {
		return field.ErrorList{err}
	}
	if owner := firstOwner(facts.Rivals); owner != nil {
		err := field.Duplicate(path.Child("name"), ref.Name)
		err.Detail = fmt.Sprintf("TimeWindowScaler %q scales %s %q already, and a workload has one at most: "+
			"add the windows to that one, or delete it first", owner.Name, ref.Kind, ref.Name)
		return field.ErrorList{err}
	}
	return nil
}

// keptTargetWarnings says what targetErrors would have refused, had the update caused it.
func keptTargetWarnings(obj *v1beta1.TimeWindowScaler, path *field.Path, facts Facts) []string {
	if schedule.NamespaceError(obj, path) != nil {
		return []string{fmt.Sprintf("%s: %s is not the namespace of this TimeWindowScaler: nothing is scaled until it is %s",
			path.Child("namespace"), quote(obj.Spec.TargetRef.Namespace), quote(obj.Namespace))}
	}
	owner := firstOwner(facts.Rivals)
	switch {
	case owner == nil:
		return nil
	case targetkind.Precedes(owner, obj):
		return []string{fmt.Sprintf("%s: the older TimeWindowScaler %s scales %s: this one does nothing until that one is deleted",
			path.Child("name"), quote(owner.Name), describeTarget(obj.Spec.TargetRef))}
	default:
		return []string{fmt.Sprintf("%s: TimeWindowScaler %s names %s too: it does nothing while this one, the older, exists",
			path.Child("name"), quote(owner.Name), describeTarget(obj.Spec.TargetRef))}
	}
}

// targetWarnings says what stands in the way of scaling the target.
func targetWarnings(obj *v1beta1.TimeWindowScaler, path *field.Path, facts Facts) []string {
	if schedule.NamespaceError(obj, path) != nil {
		return nil // the facts are about a namesake in the object's own namespace
	}
	target := describeTarget(obj.Spec.TargetRef)
	warnings := permissionWarnings(path, facts)
	if facts.TargetMissing {
		warnings = append(warnings, fmt.Sprintf("%s: there is no %s in namespace %s yet: it is scaled as soon as it exists",
			path.Child("name"), target, quote(obj.Namespace)))
	}
	if names := slices.Sorted(slices.Values(facts.Autoscalers)); len(names) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: HorizontalPodAutoscaler %s scales %s too: each will undo what the other does, so keep only one of them",
			path.Child("name"), quote(names[0]), target))
	}
	return warnings
}

// firstOwner returns the one of the scalers that owns their common target, or nil without any.
func firstOwner(scalers []*v1beta1.TimeWindowScaler) *v1beta1.TimeWindowScaler {
	var owner *v1beta1.TimeWindowScaler
	for _, s := range scalers {
		if owner == nil || targetkind.Precedes(s, owner) {
			owner = s
		}
	}
	return owner
}
