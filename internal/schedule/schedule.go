// Package schedule parses the schedule of an API object: the one place where spec fields become what
// internal/timecalc computes with, shared by admission, controller and command line.
package schedule

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/timecalc"
)

// Reading is a parsed spec. Errors in zones, windows and metrics are kept apart, because a scaler with an
// unknown zone falls back to defaultReplicas, one with an unknown zone of a window runs without that window,
// and one with invalid windows leaves its target alone (B5).
type Reading struct {
	// Calendar is complete only if there are no errors. Its windows are those of the spec, index by
	// index; a window that could not be parsed covers nothing.
	Calendar timecalc.Calendar
	// Metrics are those of the windows, index by index; nil for a window without a valid one.
	Metrics []*Metric
	// ZoneError says why spec.timezone is unknown here.
	ZoneError *field.Error
	// WindowZoneErrors has every spec.windows[].timezone that is unknown here.
	WindowZoneErrors field.ErrorList
	// WindowErrors has every invalid field of spec.windows, and spec.defaultReplicas if that is invalid,
	// and MetricErrors every invalid field of their metrics.
	WindowErrors, MetricErrors field.ErrorList
}

// Errors returns the errors in zones and windows, zones first.
func (r *Reading) Errors() field.ErrorList {
	var errs field.ErrorList
	if r.ZoneError != nil {
		errs = append(errs, r.ZoneError)
	}
	return append(append(errs, r.WindowZoneErrors...), r.WindowErrors...)
}

// Invalid returns the errors because of which the target is left alone: all but those in zones, and what the schema refuses
// in other fields.
func (r *Reading) Invalid(refused field.ErrorList) field.ErrorList {
	errs := slices.Concat(r.WindowErrors, r.MetricErrors)
	named := make(map[string]bool, len(errs))
	for _, err := range errs {
		named[err.Field] = true
	}
	for _, err := range refused {
		if !named[err.Field] {
			errs = append(errs, err)
		}
	}
	return errs
}

// FromSpec parses spec: zones, windows, metrics, defaults and holiday mode. path is where spec lies in its
// object. The dates of the holidays are not in the spec; the caller adds them to the Calendar.
func FromSpec(spec *v1beta1.TimeWindowScalerSpec, path *field.Path) Reading {
	reading := Reading{Calendar: timecalc.Calendar{HolidayMode: timecalc.HolidayIgnore}}
	if spec.Holidays != nil && spec.Holidays.Mode != "" {
		reading.Calendar.HolidayMode = string(spec.Holidays.Mode)
	}
	zone, err := timecalc.LoadZone(spec.Timezone)
	if err != nil {
		reading.ZoneError = field.Invalid(path.Child("timezone"), spec.Timezone, err.Error())
	}
	reading.Calendar.Zone = zone
	reading.Calendar.DefaultReplicas, err = Count(spec.DefaultReplicas, spec.BaselineReplicas)
	if err == nil && reading.Calendar.DefaultReplicas < 0 {
		err = errors.New("must not be negative")
	}
	if err != nil {
		reading.WindowErrors = append(reading.WindowErrors, field.Invalid(path.Child("defaultReplicas"), plain(spec.DefaultReplicas), err.Error()))
	}
	reading.readWindows(spec, path.Child("windows"))
	return reading
}

// HolidaySource is the name of the ConfigMap that the schedule needs, "" if it needs none: without a mode,
// and with mode ignore, holidays do not matter.
func HolidaySource(spec *v1beta1.TimeWindowScalerSpec) string {
	h := spec.Holidays
	if h == nil || h.SourceRef == nil || h.Mode == "" || h.Mode == v1beta1.HolidayIgnore {
		return ""
	}
	return h.SourceRef.Name
}

// NamespaceError rejects a target in another namespace than its TimeWindowScaler's (R5).
// It is nil if the namespace is the same or left out, or if the object itself has none, as
// in a file. path is where the reference lies.
func NamespaceError(tws *v1beta1.TimeWindowScaler, path *field.Path) *field.Error {
	named := tws.Spec.TargetRef.Namespace
	if named == "" || tws.Namespace == "" || named == tws.Namespace {
		return nil
	}
	return field.Invalid(path.Child("namespace"), named, fmt.Sprintf(
		"must be %q, the namespace of this TimeWindowScaler, or left out: workloads of other namespaces cannot be scaled",
		tws.Namespace))
}

// readWindows reads the windows, each in its own zone if it names one (A6).
func (r *Reading) readWindows(spec *v1beta1.TimeWindowScalerSpec, path *field.Path) {
	loaded := zones{"": {}, spec.Timezone: {}}
	r.Calendar.Windows = make([]timecalc.TimeWindow, len(spec.Windows))
	r.Metrics = make([]*Metric, len(spec.Windows))
	for i := range spec.Windows {
		source, path := &spec.Windows[i], path.Index(i)
		zone := loaded.load(source.Timezone)
		if zone.err != nil {
			r.WindowZoneErrors = append(r.WindowZoneErrors, field.Invalid(path.Child("timezone"), source.Timezone, zone.err.Error()))
		}
		window, err := parse(source, spec.BaselineReplicas)
		if err != nil {
			r.WindowErrors = append(r.WindowErrors, fieldErrors(err, path, source)...)
		}
		if err := nameError(source.Name, path.Child("name")); err != nil {
			r.WindowErrors = append(r.WindowErrors, err)
		}
		if err == nil && zone.err == nil {
			r.Calendar.Windows[i] = window.In(zone.location).Named(source.Name)
		}
		if source.Metric == nil {
			continue
		}
		metric, errs := readMetric(source.Metric, path.Child("metric"))
		if r.MetricErrors = append(r.MetricErrors, errs...); len(errs) == 0 {
			r.Metrics[i] = &metric
		}
	}
}

// zones are the zones of one spec by name, each loaded once. That of the schedule itself is nil: the engine
// then computes the local time only once for it and for the windows without a zone.
type zones map[string]zone

type zone struct {
	location *time.Location
	err      error
}

func (z zones) load(name string) zone {
	found, known := z[name]
	if !known {
		found.location, found.err = timecalc.LoadZone(name)
		z[name] = found
	}
	return found
}

func parse(spec *v1beta1.Window, baseline *int32) (timecalc.TimeWindow, error) {
	days := make([]string, len(spec.Days))
	for i, day := range spec.Days {
		days[i] = string(day)
	}
	replicas, unreadable := Count(spec.Replicas, baseline)
	window, err := timecalc.ParseWindow(days, spec.Start, spec.End, replicas)
	if unreadable != nil {
		err = errors.Join(err, &timecalc.FieldError{Field: "replicas", Detail: unreadable.Error()})
	}
	return window, err
}

// fieldErrors gives each error of the parser its place in the object.
func fieldErrors(err error, path *field.Path, spec *v1beta1.Window) field.ErrorList {
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

func value(spec *v1beta1.Window, name string) any {
	switch name {
	case "start":
		return spec.Start
	case "end":
		return spec.End
	case "replicas":
		return plain(spec.Replicas)
	default:
		return spec.Days
	}
}
