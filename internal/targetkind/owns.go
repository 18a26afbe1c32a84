package targetkind

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DesiredStateField is the field of a Workspace that a schedule writes, for Owns.
var DesiredStateField = []string{"f:spec", "f:desiredState"}

// Owns reports whether a field, such as f:spec and f:replicas, is in a set of fields in its stored form (KEP-555): each level is
// an object with a key for each field.
func Owns(entry *metav1.ManagedFieldsEntry, path []string) bool {
	var fields map[string]any
	if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return false
	}
	_, found, err := unstructured.NestedFieldNoCopy(fields, path...)
	return found && err == nil
}
