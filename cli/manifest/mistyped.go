package manifest

import (
	"encoding/json"
	"reflect"
	"regexp"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// brackets are the indexes and keys of a path.
var brackets = regexp.MustCompile(`\[[^]]*\]`)

// Mistyped finds the value below content that Go cannot decode into a type, and its path as the API server writes it: encoding/json names the
// fields, and leaves out the indexes of lists and the keys of maps. If it is not found, the path is as Go says.
func Mistyped(content any, into reflect.Type, wrong *json.UnmarshalTypeError) (path string, value any, found bool) {
	var plain any // with the numbers as in an object
	if raw, err := json.Marshal(content); err != nil || utiljson.Unmarshal(raw, &plain) != nil {
		return wrong.Field, nil, false
	}
	path = wrong.Field
	findMistyped(plain, into, nil, func(_ Want, at *field.Path, one any) {
		if !found && brackets.ReplaceAllString(at.String(), "") == wrong.Field {
			path, value, found = at.String(), one, true
		}
	})
	return path, value, found
}
