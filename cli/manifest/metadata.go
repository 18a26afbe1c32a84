package manifest

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MistypedMetadata are all fields of metadata that the API server cannot decode.
func (o *Object) MistypedMetadata() (all []Mistake) {
	findMistyped(o.Object["metadata"], reflect.TypeFor[metav1.ObjectMeta](), field.NewPath("metadata"), func(want Want, path *field.Path, value any) {
		all = append(all, Mistake{path.String(), o.MustBe(want, path.String(), value)})
	})
	return all
}

type visitor func(Want, *field.Path, any)

// findMistyped visits the values that Go cannot decode into a type. Null leaves a field as it is.
func findMistyped(value any, into reflect.Type, path *field.Path, visit visitor) {
	if into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	want, fits := fit(value, into)
	if value != nil && !fits {
		visit(want, path, value)
	}
	if !fits || want == "" {
		return
	}
	switch value := value.(type) {
	case []any:
		for i := range value {
			findMistyped(value[i], into.Elem(), path.Index(i), visit)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if into.Kind() == reflect.Map {
				findMistyped(value[name], into.Elem(), path.Key(name), visit)
			} else if of := fieldOf(into, name); of != nil {
				findMistyped(value[name], of, path.Child(name), visit)
			}
		}
	}
}

// fit is what a type of metadata or of a schedule wants, and whether a value is that.
func fit(value any, into reflect.Type) (want Want, fits bool) {
	switch into {
	case reflect.TypeFor[metav1.FieldsV1]():
		return "", true // which takes everything
	case reflect.TypeFor[metav1.Time]():
		text, _ := value.(string)
		_, err := time.Parse(time.RFC3339, text)
		return WantTime, err == nil
	case reflect.TypeFor[intstr.IntOrString]():
		_, isString := value.(string)
		return WantNumberOrString, isString || isWhole(value, math.MaxInt32)
	}
	switch into.Kind() {
	case reflect.String:
		_, fits = value.(string)
		return WantString, fits
	case reflect.Bool:
		_, fits = value.(bool)
		return WantBoolean, fits
	case reflect.Int32:
		return WantInteger, isWhole(value, math.MaxInt32)
	case reflect.Int64:
		return WantInteger, isWhole(value, math.MaxInt64)
	case reflect.Slice:
		_, fits = value.([]any)
		return WantOf(into), fits
	}
	_, fits = value.(map[string]any) // a struct, or a map with keys of text
	return WantObject, fits
}

// isWhole reports whether a value is a whole number with a limit.
func isWhole(value any, limit int64) bool {
	whole, fits := value.(int64)
	float, isFloat := value.(float64)
	return fits && whole <= limit && whole >= -limit-1 || isFloat && float == math.Trunc(float)
}

// fieldOf is the type of a struct's field by its name in JSON, nil if there is none.
func fieldOf(into reflect.Type, name string) reflect.Type {
	for one := range into.Fields() {
		if tag, _, _ := strings.Cut(one.Tag.Get("json"), ","); tag == name {
			return one.Type
		}
	}
	return nil
}
