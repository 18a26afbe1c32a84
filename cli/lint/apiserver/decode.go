package apiserver

import (
	stdjson "encoding/json"
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// creator makes the objects that the decoder fills.
type creator struct{}

func (creator) New(schema.GroupVersionKind) (runtime.Object, error) {
	return &unstructured.Unstructured{}, nil
}

// decoders read a body by its media type, as a request with fieldValidation=Strict.
var (
	jsonDecoder = newDecoder(false)
	yamlDecoder = newDecoder(true)
)

func newDecoder(yaml bool) *json.Serializer {
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, creator{}, crdserverscheme.NewUnstructuredObjectTyper(), json.SerializerOptions{Yaml: yaml, Strict: true})
}

// decode reads the text of an object, JSON or YAML: strictly, pruned and with its defaults. The error is what the server answers. The
// object is nil if there was nothing to go on with.
func (v *version) decode(text []byte) (*unstructured.Unstructured, error) {
	decoder := yamlDecoder
	if stdjson.Valid(text) {
		decoder = jsonDecoder
	}
	object := &unstructured.Unstructured{}
	var faults []error
	if _, _, err := decoder.Decode(text, &v.kind, object); err != nil {
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil, err
		}
		faults = strict.Errors()
	}
	unknown, err := v.coerce(object, false)
	if err != nil {
		return nil, err
	}
	for _, path := range unknown {
		faults = append(faults, fmt.Errorf(`unknown field "%s"`, path)) // the quotes are the server's: %q would escape the path
	}
	defaulting.Default(object.Object, v.structural)
	if len(faults) > 0 {
		return object, runtime.NewStrictDecodingError(faults)
	}
	return object, nil
}

// coerce does for an object without a Go type what decoding does for one with: metadata has its types, and what the schema
// does not have is gone, as are nulls that it does not allow. It returns the paths of what is gone. Of what is stored already, malformed metadata is
// dropped rather than refused.
func (v *version) coerce(object *unstructured.Unstructured, stored bool) (unknown []string, err error) {
	metadata, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object.Object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: stored, ReturnUnknownFieldPaths: true,
	})
	if err != nil {
		return nil, err
	}
	track := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(object.Object, v.structural, true, track)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, v.structural)
	failed, embedded := objectmeta.CoerceWithOptions(nil, object.Object, v.structural, false, objectmeta.CoerceOptions{
		DropInvalidFields: stored, ReturnUnknownFieldPaths: true,
	})
	if failed != nil {
		return nil, failed
	}
	object.SetGroupVersionKind(v.kind)
	if found {
		return append(unknown, embedded...), objectmeta.SetObjectMeta(object.Object, metadata)
	}
	return append(unknown, embedded...), nil
}
