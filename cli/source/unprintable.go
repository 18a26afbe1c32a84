package source

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
)

// unprintable are the fields of a scaler with what cannot be shown. No API server takes them, but a file may come from
// anybody, and what is made of it goes to terminals, calendars and comments.
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
			if !manifest.IsPrintable(name) { // as a label's
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
