package admission

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// Facts are what the rules know of other objects. The zero value knows nothing, and nothing is
// refused or warned about for want of a fact.
type Facts struct {
	// Unserved says that the manager does not serve the object's namespace. It then knows nothing of
	// other objects there.
	Unserved bool
	// Unscalable says why the target's kind can be no target: a *targetkind.UnknownError or a
	// *targetkind.NotScalableError. It is nil if the kind can be one.
	Unscalable error
	// Forbidden says that Kyklos lacks a permission for the target's kind; nil if it has all.
	Forbidden *targetkind.ForbiddenError
	// TargetMissing says that the target is known not to exist.
	TargetMissing bool
	// Autoscalers are the names of the HorizontalPodAutoscalers of the target.
	Autoscalers []string
	// Rivals are the other TimeWindowScalers with the same target that are not being deleted.
	Rivals []*v1beta1.TimeWindowScaler
	// Holidays is the ConfigMap that spec.holidays names; nil when it was not looked up.
	Holidays *HolidaySource
	// MetricsMissing says that nothing in the cluster serves external metrics.
	MetricsMissing bool
}

// HolidaySource is what is known of a holiday ConfigMap.
type HolidaySource struct {
	Exists bool
	Keys   []string // in any order
}

// ValidateTimeWindowScaler returns what refuses obj. old is the object it replaces, nil on create;
// what old broke in the same way does not refuse obj.
func ValidateTimeWindowScaler(obj, old *v1beta1.TimeWindowScaler, facts Facts) field.ErrorList {
	path := field.NewPath("spec")
	errs := unreadableErrors(obj, old, path)
	if !keepsKind(obj, old) {
		errs = append(errs, kindErrors(obj.Spec.TargetRef, path.Child("targetRef"), facts)...)
	}
	if !keepsTarget(obj, old) {
		errs = append(errs, targetErrors(obj, path.Child("targetRef"), facts)...)
	}
	return errs
}

// unreadableErrors refuses what the schedule's reader cannot read, unless old had such faults before.
// CEL refuses the same and more; but a request in another version of the API is held against that
// version's rules, and may bring along what only this one knows.
func unreadableErrors(obj, old *v1beta1.TimeWindowScaler, path *field.Path) field.ErrorList {
	errs := unreadable(&obj.Spec, path)
	if old != nil && len(errs) > 0 && len(unreadable(&old.Spec, path)) > 0 {
		return nil
	}
	return errs
}

func unreadable(spec *v1beta1.TimeWindowScalerSpec, path *field.Path) field.ErrorList {
	reading := schedule.FromSpec(spec, path)
	return reading.Invalid()
}

// WarnTimeWindowScaler returns what the author of obj should know, most important first; old is nil on
// create. Each warning is shorter than 250 bytes: the API server may cut longer ones. now decides
// which clock changes and holidays lie ahead.
func WarnTimeWindowScaler(obj, old *v1beta1.TimeWindowScaler, facts Facts, now time.Time) []string {
	spec, path := &obj.Spec, field.NewPath("spec")
	target := path.Child("targetRef")
	warnings := unservedWarnings(obj.Namespace, facts.Unserved, "nothing is scaled here")
	if keepsTarget(obj, old) {
		warnings = append(warnings, keptTargetWarnings(obj, target, facts)...)
	}
	if keepsKind(obj, old) {
		warnings = append(warnings, keptKindWarnings(spec.TargetRef, target, facts)...)
	}
	warnings = append(warnings, targetWarnings(obj, target, facts)...)
	// What cannot be read has been refused, or an update keeps it and the status says so (B5).
	reading := schedule.FromSpec(spec, path)
	warnings = append(warnings, allZoneWarnings(spec, &reading, path)...)
	windows, zone := reading.Calendar.Windows, reading.Calendar.Zone
	if len(reading.WindowErrors) == 0 {
		warnings = append(warnings, countWarnings(spec, windows, path)...)
		warnings = append(warnings, metricWarnings(spec, windows, path.Child("windows"), facts)...)
	}
	if len(reading.WindowErrors)+len(reading.WindowZoneErrors) == 0 {
		warnings = append(warnings, windowWarnings(windows, path.Child("windows"))...)
	}
	if len(reading.Errors()) == 0 {
		warnings = append(warnings, clockChangeWarnings(windows, zone, now, path.Child("windows"))...)
	}
	if reading.ZoneError == nil {
		today := now.In(zone).Format(time.DateOnly)
		warnings = append(warnings, holidayWarnings(obj, today, path.Child("holidays", "sourceRef", "name"), facts)...)
	}
	return warnings
}

// unservedWarnings tells who would wait in vain, and for what; another manager may serve the namespace,
// without webhooks.
func unservedWarnings(namespace string, unserved bool, idle string) []string {
	if !unserved {
		return nil
	}
	return []string{fmt.Sprintf("metadata.namespace: this Kyklos does not serve the namespace %s (see its flag --namespaces): "+
		"%s, unless another one serves it", quote(namespace), idle)}
}

// keepsTarget reports whether obj replaces an object with the same target. A namespace that was left
// out and is filled in now is no change.
func keepsTarget(obj, old *v1beta1.TimeWindowScaler) bool {
	if old == nil {
		return false
	}
	now, before := obj.Spec.TargetRef, old.Spec.TargetRef
	return targetkind.SameTarget(now, before) &&
		cmp.Or(now.Namespace, obj.Namespace) == cmp.Or(before.Namespace, old.Namespace)
}

// keepsKind reports whether obj replaces an object with a target of the same kind, in the same version:
// another version may not exist.
func keepsKind(obj, old *v1beta1.TimeWindowScaler) bool {
	return old != nil && targetkind.Of(obj.Spec.TargetRef) == targetkind.Of(old.Spec.TargetRef)
}

// describeTarget names the target for people: Deployment "web".
func describeTarget(ref v1beta1.TargetRef) string {
	return fmt.Sprintf("%s %s", shorten(ref.Kind), quote(ref.Name))
}

// longestName is how much of a name a message shows, in bytes. It keeps every warning below the length
// at which the API server may cut it.
const longestName = 40

// quote returns the name in quotes, shortened.
func quote(name string) string { return `"` + shorten(name) + `"` }

// shorten cuts s to longestName bytes; an ellipsis marks the cut. Warnings travel in an HTTP header, so
// anything but printable ASCII, which no name in a cluster has, becomes a question mark.
func shorten(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	if len(s) <= longestName {
		return s
	}
	return s[:longestName-len("...")] + "..."
}
