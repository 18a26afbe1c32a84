// Package apischema validates objects against a version of a CustomResourceDefinition: the schema, list types and CEL
// rules, with the API server's own code. Kyklos needs it without an API server, and for objects that the API server has
// validated in another version.
package apischema

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Schema is the schema of a version, ready for validation. It is safe for concurrent use.
type Schema struct {
	// Structural must not be changed.
	Structural *structuralschema.Structural

	validator validation.SchemaValidator
	// rules are compiled on first use, which takes long.
	rules func() *cel.Validator
}

// New prepares the schema of a version.
func New(version *apiextensionsv1.CustomResourceDefinitionVersion) (*Schema, error) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("no schema")
	}
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy() // defaults are shared with the definition
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &Schema{
		Structural: structural,
		validator:  validator,
		rules:      sync.OnceValue(func() *cel.Validator { return cel.NewValidator(structural, true, celconfig.PerCallLimit) }),
	}, nil
}

// Complete drops unknown fields and nulls that the schema does not allow, and sets defaults, as the API server does with
// a converted object.
func (s *Schema) Complete(object map[string]any) {
	pruning.Prune(object, s.Structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.Structural)
	defaulting.Default(object, s.Structural)
}

// Validate adds to errs, which are those in metadata, the other errors of a new object.
func (s *Schema) Validate(ctx context.Context, errs field.ErrorList, object map[string]any) field.ErrorList {
	errs = append(errs, validation.ValidateCustomResource(nil, object, s.validator)...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, s.Structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.Structural, object)...)
	return s.runRules(ctx, errs, object, nil)
}

// ValidateUpdate is Validate for an update; errors in what is unchanged are ignored (ratcheting, KEP-4008).
func (s *Schema) ValidateUpdate(ctx context.Context, errs field.ErrorList, object, stored map[string]any) field.ErrorList {
	related := common.NewCorrelatedObject(object, stored, &model.Structural{Structural: s.Structural})
	errs = append(errs, validation.ValidateCustomResourceUpdate(nil, object, stored, s.validator, validation.WithRatcheting(related))...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, s.Structural, false)...)
	if len(listtype.ValidateListSetsAndMaps(nil, s.Structural, stored)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.Structural, object)...)
	}
	return s.runRules(ctx, errs, object, stored, cel.WithRatcheting(related))
}

// RulesSkipped is the detail of an additional error that replaces those of the CEL rules. They rely on the schema, and are
// skipped if a value is missing, too long, not supported or of the wrong type.
const RulesSkipped = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"

// runRules adds the errors of the CEL rules.
func (s *Schema) runRules(ctx context.Context, errs field.ErrorList, object, stored map[string]any, options ...cel.Option) field.ErrorList {
	validator := s.rules()
	if validator == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, RulesSkipped))
		}
	}
	var before any // not a nil map
	if stored != nil {
		before = stored
	}
	failed, _ := validator.Validate(ctx, nil, s.Structural, object, before, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, failed...)
}
