// Package source reads TimeWindowScalers of both versions, with their holidays, from manifests or from a cluster.
package source

import (
	"encoding/json"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	// TimeWindowScaler is the object as v1beta1, Source its manifest; nil for an object of a cluster.
	TimeWindowScaler *v1beta1.TimeWindowScaler
	Source           *manifest.Object
	// Remarks are about the manifests of the schedule.
	Remarks []string
}

// Key is the scaler's namespace and name.
func (s *Scaler) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
}

// FromManifests returns the scalers of a set in its order, and those that are invalid. namespace is for objects without one.
// holidays are dates for every scaler that follows holidays; nil reads the ConfigMaps of the set.
func FromManifests(set *manifest.Set, namespace string, holidays []string) (scalers []*Scaler, problems []*Problem) {
	parts := partsOf(set, namespace)
	for _, object := range set.Objects {
		key := object.Key(namespace)
		if !IsScaler(object) {
			if why, ok := object.Misnamed(versions); ok {
				problems = append(problems, &Problem{Source: object, Name: key, Err: mistakes{why}})
			}
			continue
		}
		tws, err := decode(object)
		if err == nil {
			tws.Namespace = key.Namespace
			var scaler *Scaler
			if scaler, err = Read(tws, func(name string) Holidays {
				if holidays != nil {
					return Holidays{Keys: holidays}
				}
				keys, there := parts[object].configMaps[types.NamespacedName{Namespace: key.Namespace, Name: name}]
				return Holidays{Keys: keys, Missing: !there}
			}); err == nil {
				scaler.Source = object
				scaler.Remarks = parts[object].places.duplicates(scaler)
				scalers = append(scalers, scaler)
				continue
			}
		}
		problems = append(problems, &Problem{Source: object, Name: key, Err: err})
	}
	return scalers, problems
}

// Read reads the schedule of a TimeWindowScaler. holidays reads a ConfigMap of its namespace.
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

func (s *Scaler) setHolidays(known Holidays) {
	s.Calendar.Holidays, _ = timecalc.ParseHolidayDates(known.Keys)
	s.HolidaysMissing, s.HolidaysUnread = known.Missing, known.Unread
}

var versions = []schema.GroupVersionKind{v1beta1.GroupVersion.WithKind(v1beta1.Kind), v1alpha1.GroupVersion.WithKind(v1beta1.Kind)}

// IsScaler reports whether an object is a TimeWindowScaler of a served version.
func IsScaler(object *manifest.Object) bool {
	kind := object.GroupVersionKind()
	return slices.Contains(versions, kind)
}

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
		return nil, decodeError(object, err)
	}
	return &tws, nil
}

// part is what is applied together with an object: the keys of ConfigMaps, and the places of all objects.
type part struct {
	configMaps map[types.NamespacedName][]string
	places     places
}

// partsOf returns the part of each object, the first one if there are several.
func partsOf(set *manifest.Set, namespace string) map[*manifest.Object]part {
	all := make(map[*manifest.Object]part)
	for _, objects := range set.Parts() {
		own := part{make(map[types.NamespacedName][]string), placesOf(objects, namespace)}
		for _, object := range objects {
			if keys, ok := configMapKeys(object); ok {
				own.configMaps[object.Key(namespace)] = keys
			}
			if _, known := all[object]; !known {
				all[object] = own
			}
		}
	}
	return all
}

// unprintable are the fields of a scaler with characters that cannot be shown. The API server refuses them, but a file may come
// from anybody, and the output goes to terminals, calendars and comments.
func unprintable(tws *v1beta1.TimeWindowScaler) (errs field.ErrorList) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1beta1.TimeWindowScaler{Spec: tws.Spec})
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	names := map[string]any{"name": tws.Name, "namespace": tws.Namespace}
	return append(unprintableBelow(field.NewPath("metadata"), names), unprintableBelow(field.NewPath("spec"), content["spec"])...)
}

func unprintableBelow(path *field.Path, value any) (errs field.ErrorList) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !manifest.IsPrintable(name) { // the key of a label
				errs = append(errs, field.Invalid(path, name, "has characters that cannot be shown"))
				continue
			}
			errs = append(errs, unprintableBelow(path.Child(name), v[name])...)
		}
	case []any:
		for i := range v {
			errs = append(errs, unprintableBelow(path.Index(i), v[i])...)
		}
	case string:
		if !manifest.IsPrintable(v) {
			errs = append(errs, field.Invalid(path, v, "has characters that cannot be shown"))
		}
	}
	return errs
}
