// Package schedule reads the schedule out of an API object: the one place where spec fields
// become what internal/timecalc computes with, shared by admission, controller and command line.
package schedule

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/timecalc"
)

// Reading is a spec as far as it could be read. Zone and windows fail apart from each other,
// because a scaler with an unknown zone falls back to defaultReplicas while one with unreadable
// windows leaves its target alone (B5).
type Reading struct {
	// Calendar is complete only if both errors are nil.
	Calendar timecalc.Calendar
	// ZoneError says why spec.timezone is no zone here.
	ZoneError *field.Error
	// WindowErrors name every field of spec.windows that cannot be read.
	WindowErrors field.ErrorList
}

// Errors returns all that is wrong, in the order of the fields.
func (r *Reading) Errors() field.ErrorList {
	if r.ZoneError == nil {
		return r.WindowErrors
	}
	return append(field.ErrorList{r.ZoneError}, r.WindowErrors...)
}

// FromSpec reads spec's zone, windows, default and holiday mode. path is where spec lies in its
// object. The dates of the holidays are not in the spec; the caller adds them to the Calendar.
func FromSpec(spec *v1alpha1.TimeWindowScalerSpec, path *field.Path) Reading {
	reading := Reading{Calendar: timecalc.Calendar{
		DefaultReplicas: spec.DefaultReplicas,
		HolidayMode:     timecalc.HolidayIgnore,
	}}
	if spec.Holidays != nil && spec.Holidays.Mode != "" {
		reading.Calendar.HolidayMode = string(spec.Holidays.Mode)
	}
	zone, err := timecalc.LoadZone(spec.Timezone)
	if err != nil {
		reading.ZoneError = field.Invalid(path.Child("timezone"), spec.Timezone, err.Error())
	}
	reading.Calendar.Zone = zone
	reading.Calendar.Windows, reading.WindowErrors = windows(spec.Windows, path.Child("windows"))
	return reading
}

// HolidaySource is the name of the ConfigMap that the schedule needs, "" if it needs none: without a
// mode, and while the mode is ignore, holidays do not matter.
func HolidaySource(spec *v1alpha1.TimeWindowScalerSpec) string {
	h := spec.Holidays
	if h == nil || h.SourceRef == nil || h.Mode == "" || h.Mode == v1alpha1.HolidayIgnore {
		return ""
	}
	return h.SourceRef.Name
}

// NamespaceError refuses a target of another namespace than its TimeWindowScaler's (seed 002,
// spec.targetRef); nil if it is the own one or left out, or if the object itself names none, as in a
// file. path is where the reference lies.
func NamespaceError(tws *v1alpha1.TimeWindowScaler, path *field.Path) *field.Error {
	named := tws.Spec.TargetRef.Namespace
	if named == "" || tws.Namespace == "" || named == tws.Namespace {
		return nil
	}
	return field.Invalid(path.Child("namespace"), named, fmt.Sprintf(
		"must be %q, the namespace of this TimeWindowScaler, or left out: workloads of other namespaces cannot be scaled",
		tws.Namespace))
}

func windows(specs []v1alpha1.Window, path *field.Path) ([]timecalc.TimeWindow, field.ErrorList) {
	var errs field.ErrorList
	parsed := make([]timecalc.TimeWindow, 0, len(specs))
	for i := range specs {
		window, err := parse(&specs[i])
		if err != nil {
			errs = append(errs, fieldErrors(err, path.Index(i), &specs[i])...)
			continue
		}
		parsed = append(parsed, window)
	}
	return parsed, errs
}

func parse(spec *v1alpha1.Window) (timecalc.TimeWindow, error) {
	days := make([]string, len(spec.Days))
	for i, day := range spec.Days {
		days[i] = string(day)
	}
	return timecalc.ParseWindow(days, spec.Start, spec.End, spec.Replicas)
}

// fieldErrors gives each error of the parser its place in the object.
func fieldErrors(err error, path *field.Path, spec *v1alpha1.Window) field.ErrorList {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var errs field.ErrorList
		for _, one := range joined.Unwrap() {
			errs = append(errs, fieldErrors(one, path, spec)...)
		}
		return errs
	}
	var at *timecalc.FieldError
	if errors.As(err, &at) {
		return field.ErrorList{field.Invalid(path.Child(at.Field), value(spec, at.Field), at.Detail)}
	}
	return field.ErrorList{field.Invalid(path, spec, err.Error())}
}

func value(spec *v1alpha1.Window, name string) any {
	switch name {
	case "start":
		return spec.Start
	case "end":
		return spec.End
	case "replicas":
		return spec.Replicas
	default:
		return spec.Days
	}
}
