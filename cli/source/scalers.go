package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
	"kyklos.io/kyklos/webhooks/conversion"
)

// Scaler is a TimeWindowScaler and its schedule.
type Scaler struct {
	timeline.Scaler
	// TimeWindowScaler is the object as v1beta1, Source where it was read; nil if it came from a cluster.
	TimeWindowScaler *v1beta1.TimeWindowScaler
	Source           *manifest.Object
	// Remarks say what else there is to know of the manifests that the schedule was read from, a sentence each.
	Remarks []string
}

// Key is the scaler's namespace and name.
func (s *Scaler) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
}

// Problem is why the schedule of an object cannot be read.
type Problem struct {
	Source *manifest.Object
	Name   types.NamespacedName
	Err    error
}

func (p *Problem) Error() string {
	if p.Source == nil {
		return manifest.Printable(fmt.Sprintf("TimeWindowScaler %s: %v", p.Name, p.Err))
	}
	line := p.Source.Line
	if fields, ok := errors.AsType[fieldErrors](p.Err); ok {
		at, _ := p.Source.Position(fields[0].Field)
		line = at.Line
	}
	return manifest.Printable(fmt.Sprintf("%s:%d: TimeWindowScaler %s: %v", p.Source.File.Name, line, p.Name.Name, p.Err))
}

// fieldErrors are fields of a schedule that cannot be read.
type fieldErrors field.ErrorList

func (e fieldErrors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "; ")
}

// FromManifests returns the scalers of a set in its order, and those that cannot be read. namespace is that of objects that name
// none. Holidays are dates for every scaler that follows any; nil takes them from the ConfigMaps of the set.
func FromManifests(set *manifest.Set, namespace string, holidays []string) (scalers []*Scaler, problems []*Problem) {
	around := surroundingsOf(set, namespace)
	for _, object := range set.Objects {
		if !IsScaler(object) {
			continue
		}
		key := object.Key(namespace)
		tws, err := decode(object)
		if err == nil {
			tws.Namespace = key.Namespace
			var scaler *Scaler
			if scaler, err = Read(tws, func(name string) Holidays {
				if holidays != nil {
					return Holidays{Keys: holidays}
				}
				keys, there := around[object].configMaps[types.NamespacedName{Namespace: key.Namespace, Name: name}]
				return Holidays{Keys: keys, Missing: !there}
			}); err == nil {
				scaler.Source = object
				scaler.Remarks = around[object].places.remarks(scaler)
				scalers = append(scalers, scaler)
				continue
			}
		}
		problems = append(problems, &Problem{Source: object, Name: key, Err: err})
	}
	return scalers, problems
}

// Read reads the schedule of a TimeWindowScaler. holidays are what a ConfigMap of its namespace says.
func Read(tws *v1beta1.TimeWindowScaler, holidays func(name string) Holidays) (*Scaler, error) {
	reading := schedule.FromSpec(&tws.Spec, field.NewPath("spec"))
	if errs := append(unprintable(tws), reading.Errors()...); len(errs) > 0 {
		return nil, fieldErrors(errs)
	}
	scaler := &Scaler{TimeWindowScaler: tws, Scaler: timeline.Scaler{
		Namespace: tws.Namespace, Name: tws.Name, Spec: &tws.Spec, Calendar: reading.Calendar,
	}}
	if tws.Spec.TargetRef.APIVersion == "" {
		tws.Spec.TargetRef.APIVersion = appsv1.SchemeGroupVersion.String() // the schema's default
	}
	if name := schedule.HolidaySource(&tws.Spec); name != "" {
		scaler.setHolidays(holidays(name))
	}
	return scaler, nil
}

// setHolidays gives a schedule the dates among the keys of its ConfigMap.
func (s *Scaler) setHolidays(known Holidays) {
	s.Calendar.Holidays, _ = timecalc.ParseHolidayDates(known.Keys)
	s.HolidaysMissing, s.HolidaysUnread = known.Missing, known.Unread
}

// IsScaler reports whether an object is a TimeWindowScaler of a version that Kyklos serves.
func IsScaler(object *manifest.Object) bool {
	kind := object.GroupVersionKind()
	return kind.GroupKind() == v1beta1.GroupKind && slices.Contains([]string{v1alpha1.GroupVersion.Version, v1beta1.GroupVersion.Version}, kind.Version)
}

// decode returns the object as v1beta1, whatever version it is of.
func decode(object *manifest.Object) (*v1beta1.TimeWindowScaler, error) {
	raw, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	if object.GroupVersionKind().Version == v1alpha1.GroupVersion.Version {
		if raw, err = conversion.ToV1beta1(raw); err != nil {
			return nil, err
		}
	}
	var tws v1beta1.TimeWindowScaler
	if err := json.Unmarshal(raw, &tws); err != nil {
		if mistake, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mistake.Field != "" {
			err = fieldErrors{field.Invalid(field.NewPath(mistake.Field), mistake.Value, "the field takes nothing of this type")}
		}
		return nil, err
	}
	return &tws, nil
}

// surroundings are the ConfigMaps that are applied together with an object, by their keys, and where what is applied with it stands.
type surroundings struct {
	configMaps map[types.NamespacedName][]string
	places     places
}

// surroundingsOf are those of all objects. What several parts of the set have in common is taken for the first one's.
func surroundingsOf(set *manifest.Set, namespace string) map[*manifest.Object]surroundings {
	all := make(map[*manifest.Object]surroundings)
	for _, part := range set.Parts() {
		own := surroundings{holidaySources(part, namespace), placesOf(part, namespace)}
		for _, object := range part {
			if _, known := all[object]; !known {
				all[object] = own
			}
		}
	}
	return all
}

// holidaySources are the keys of all ConfigMaps.
func holidaySources(objects []*manifest.Object, namespace string) map[types.NamespacedName][]string {
	all := make(map[types.NamespacedName][]string)
	for _, object := range objects {
		if keys, ok := configMapKeys(object); ok {
			all[object.Key(namespace)] = keys
		}
	}
	return all
}
