package conversion

import (
	"encoding/json"
	"errors"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// object is a document as a runtime.Object for controller-runtime's converter.
type object struct {
	metav1.TypeMeta
	document document
	// cut: a v1alpha1 object lacks the annotation because it would be too large.
	cut bool
}

// hubObject and spokeObject are the Go types of the two versions in newScheme.
type (
	hubObject   struct{ object }
	spokeObject struct{ object }
)

// newScheme contains TimeWindowScaler only, with other types than the manager's scheme: converted objects are never
// decoded into the API's types.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(v1beta1.GroupVersion.WithKind(v1beta1.Kind), &hubObject{})
	scheme.AddKnownTypeWithName(v1alpha1.GroupVersion.WithKind(v1alpha1.Kind), &spokeObject{})
	return scheme
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(raw []byte) (err error) {
	if o.document, err = parseDocument(raw); err != nil {
		return err
	}
	return errors.Join(json.Unmarshal(o.document["apiVersion"], &o.APIVersion), json.Unmarshal(o.document["kind"], &o.Kind))
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) { return encode(o.document), nil }

// GetObjectKind implements runtime.Object.
func (o *object) GetObjectKind() schema.ObjectKind { return &o.TypeMeta }

// DeepCopyObject implements runtime.Object.
func (h *hubObject) DeepCopyObject() runtime.Object { return &hubObject{h.copied()} }

// DeepCopyObject implements runtime.Object.
func (s *spokeObject) DeepCopyObject() runtime.Object { return &spokeObject{s.copied()} }

// copied shares the values of the document, which are never modified.
func (o *object) copied() object { return object{o.TypeMeta, maps.Clone(o.document), o.cut} }
