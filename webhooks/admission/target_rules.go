package admission

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// checkTarget checks the target itself: its namespace is the object's own, it has one TimeWindowScaler (B8),
// its kind can be scaled (A3), and nothing keeps Kyklos from scaling it. What the update did not change only
// warns.
func (all *Findings) checkTarget(obj, old *v1beta1.TimeWindowScaler, path *field.Path, facts Facts) {
	namespace := schedule.NamespaceError(obj, path)
	if keepsTarget(obj, old) {
		all.warnTarget(obj, namespace != nil, path, facts)
	} else {
		all.refuseTarget(obj, namespace, path, facts)
	}
	all.checkKind(obj, old, path, facts)
	if namespace != nil {
		return // the facts are about a target of the same name in the object's own namespace
	}
	all.checkPermission(obj.Namespace, path, facts)
	target := describeTarget(obj.Spec.TargetRef)
	if facts.TargetMissing {
		all.warn(TargetMissing, path.Child("name"), "%s does not exist in namespace %s yet: it will be scaled once it does", target, quote(obj.Namespace))
	}
	if controller := facts.Controller; controller != nil {
		all.warn(TargetControlled, path.Child("name"), "%s is controlled by %s %s, which may overwrite what Kyklos sets: if that can be scaled, make it the target instead",
			target, controller.Kind, quote(controller.Name))
	}
	names := slices.Sorted(slices.Values(facts.Autoscalers))
	if len(names) > 0 && schedule.DriftPolicy(&obj.Spec) == v1beta1.DriftEnforce {
		all.warnOf(Other{autoscaler, names[0]}, TargetAutoscaled, path.Child("name"),
			"HorizontalPodAutoscaler %s also scales %s: each overwrites what the other sets; %s", quote(names[0]), target, schedule.HowToShare(&obj.Spec))
	}
}

func (all *Findings) refuseTarget(obj *v1beta1.TimeWindowScaler, namespace *field.Error, path *field.Path, facts Facts) {
	ref := obj.Spec.TargetRef
	if namespace != nil {
		all.refuse(TargetNamespace, Other{}, namespace)
	} else if owner := facts.Owner; owner != nil {
		err := field.Duplicate(path.Child("name"), ref.Name)
		if facts.OwnerHidden {
			err.Detail = fmt.Sprintf("another TimeWindowScaler, which you may not see, already scales %s %q, and a workload can have only one: "+
				"ask who may list TimeWindowScalers here", ref.Kind, ref.Name)
			all.refuse(TargetShared, Other{}, err)
			return
		}
		err.Detail = fmt.Sprintf("TimeWindowScaler %q already scales %s %q, and a workload can have only one: "+
			"add the windows to it, or delete it first", owner.Name, ref.Kind, ref.Name)
		all.refuse(TargetShared, Other{v1beta1.GroupKind, owner.Name}, err)
	}
}

// warnTarget reports what refuseTarget would have refused if the update had caused it.
func (all *Findings) warnTarget(obj *v1beta1.TimeWindowScaler, otherNamespace bool, path *field.Path, facts Facts) {
	owner := facts.Owner
	switch {
	case otherNamespace:
		all.warn(TargetNamespace, path.Child("namespace"), "%s is not the namespace of this TimeWindowScaler: nothing is scaled until it is %s",
			quote(obj.Spec.TargetRef.Namespace), quote(obj.Namespace))
	case owner == nil || facts.OwnerHidden: // the status reports it
	case targetkind.Precedes(owner, obj):
		all.warnOf(Other{v1beta1.GroupKind, owner.Name}, TargetShared, path.Child("name"),
			"TimeWindowScaler %s scales %s: this one does nothing until that one is deleted", quote(owner.Name), describeTarget(obj.Spec.TargetRef))
	default:
		all.warnOf(Other{v1beta1.GroupKind, owner.Name}, TargetShared, path.Child("name"),
			"TimeWindowScaler %s has the same target %s: it does nothing while this one exists", quote(owner.Name), describeTarget(obj.Spec.TargetRef))
	}
}

// checkKind reports a kind that does not exist or cannot be scaled. The error is reported for apiVersion if
// another group or version has the kind.
func (all *Findings) checkKind(obj, old *v1beta1.TimeWindowScaler, path *field.Path, facts Facts) {
	if facts.Unscalable == nil {
		return
	}
	ref := obj.Spec.TargetRef
	var unknown *targetkind.UnknownError
	isUnknown := errors.As(facts.Unscalable, &unknown)
	kind, version := shorten(ref.Kind), shorten(targetkind.Of(ref).GroupVersion().String())
	switch {
	case !keepsKind(obj, old) && isUnknown && len(unknown.Elsewhere) > 0 && unknown.Elsewhere[0].Kind == unknown.Kind.Kind:
		all.refuse(TargetKind, Other{}, field.Invalid(path.Child("apiVersion"), ref.APIVersion, facts.Unscalable.Error()))
	case !keepsKind(obj, old):
		all.refuse(TargetKind, Other{}, field.Invalid(path.Child("kind"), ref.Kind, facts.Unscalable.Error()))
	case isUnknown:
		all.warn(TargetKind, path.Child("kind"), "%s has no %s: nothing is scaled until it does", version, kind)
	default:
		all.warn(TargetKind, path.Child("kind"), "%s in %s cannot be scaled: nothing is scaled while this is the target", kind, version)
	}
}

func (all *Findings) checkPermission(namespace string, path *field.Path, facts Facts) {
	if facts.Forbidden == nil {
		return
	}
	kind := facts.Forbidden.Kind
	if flag := facts.Forbidden.Flag; flag != "" {
		all.warn(TargetPermission, path.Child("kind"), "this Kyklos does not serve %ss in namespace %s (flag %s): nothing is scaled while this is the target",
			kind.Kind, quote(namespace), flag)
		return
	}
	all.warn(TargetPermission, path.Child("kind"), "Kyklos has no permission to scale %s: grant it with a ClusterRole labelled %s: \"true\" (see docs/targets.md)",
		shorten(schema.GroupResource{Group: kind.Group, Resource: kind.Resource}.String()), targetkind.AggregationLabel)
}

// keepsTarget reports whether obj updates an object with the same target. Filling in the namespace does not
// change the target.
func keepsTarget(obj, old *v1beta1.TimeWindowScaler) bool {
	if old == nil {
		return false
	}
	now, before := obj.Spec.TargetRef, old.Spec.TargetRef
	return targetkind.SameTarget(now, before) &&
		cmp.Or(now.Namespace, obj.Namespace) == cmp.Or(before.Namespace, old.Namespace)
}

// keepsKind reports whether obj updates an object with a target of the same kind and version.
func keepsKind(obj, old *v1beta1.TimeWindowScaler) bool {
	return old != nil && targetkind.Of(obj.Spec.TargetRef) == targetkind.Of(old.Spec.TargetRef)
}

// describeTarget returns the target as in: Deployment "web".
func describeTarget(ref v1beta1.TargetRef) string { return shorten(ref.Kind) + " " + quote(ref.Name) }
