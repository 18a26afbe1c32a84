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

// creator creates the objects that the decoder fills.
type creator struct{}

func (creator) New(schema.GroupVersionKind) (runtime.Object, error) {
	return &unstructured.Unstructured{}, nil
}

// Decoders by media type, for requests with fieldValidation=Strict.
var (
	jsonDecoder = newDecoder(false)
	yamlDecoder = newDecoder(true)
)

func newDecoder(yaml bool) *json.Serializer {
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, creator{}, crdserverscheme.NewUnstructuredObjectTyper(), json.SerializerOptions{Yaml: yaml, Strict: true})
}

// decode decodes an object from JSON or YAML strictly, prunes it and sets defaults. The error is the server's. The
// object is nil if it could not be decoded at all.
func (v *version) decode(text []byte) (*unstructured.Unstructured, error) {
	decoder := yamlDecoder
	if stdjson.Valid(text) {
		decoder = jsonDecoder
	}
	object := &unstructured.Unstructured{}
	var errs []error
	if _, _, err := decoder.Decode(text, &v.kind, object); err != nil {
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil, err
		}
		errs = strict.Errors()
	}
	unknown, err := v.coerce(object, false)
	if err != nil {
		return nil, err
	}
	for _, path := range unknown {
		errs = append(errs, fmt.Errorf(`unknown field "%s"`, path)) // the quotes are the server's: %q would escape the path
	}
	defaulting.Default(object.Object, v.Structural)
	if len(errs) > 0 {
		return object, runtime.NewStrictDecodingError(errs)
	}
	return object, nil
}

// coerce decodes metadata into its Go types, and drops unknown fields and nulls that the schema does not allow. It
// returns the paths of unknown fields. Malformed metadata is dropped if the object is stored, and refused otherwise.
func (v *version) coerce(object *unstructured.Unstructured, stored bool) (unknown []string, err error) {
	metadata, found, unknown, err := objectmeta.GetObjectMetaWithOptions(object.Object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: stored, ReturnUnknownFieldPaths: true,
	})
	if err != nil {
		return nil, err
	}
	track := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(object.Object, v.Structural, true, track)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, v.Structural)
	failed, embedded := objectmeta.CoerceWithOptions(nil, object.Object, v.Structural, false, objectmeta.CoerceOptions{
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
