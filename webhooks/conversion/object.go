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

// object is a document in the clothes that controller-runtime's converter asks for.
type object struct {
	metav1.TypeMeta
	document document
	// cut says of a v1alpha1 form that it lacks the annotation, for want of room.
	cut bool
}

// hubObject and spokeObject are the two versions in newScheme, which tells them apart by their Go types.
type (
	hubObject   struct{ object }
	spokeObject struct{ object }
)

// newScheme knows TimeWindowScaler alone, and by other types than the manager's scheme: the objects
// that are converted are never decoded into the API's own types.
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

// copied shares the document's values: their bytes are never written to.
func (o *object) copied() object { return object{o.TypeMeta, maps.Clone(o.document), o.cut} }
