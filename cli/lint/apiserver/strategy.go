package apiserver

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/api/operation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// strategy is the part of a request that depends on the version; rest.BeforeCreate and rest.BeforeUpdate are the same
// for all kinds. It replaces the server's own strategy for custom resources, which needs its storage.
type strategy struct {
	crdserverscheme.UnstructuredObjectTyper
	*version
}

var (
	_ rest.RESTCreateStrategy = &strategy{}
	_ rest.RESTUpdateStrategy = &strategy{}
)

// suffix replaces the random one of a generated name, so that responses are reproducible.
const suffix = "xxxxx"

// GenerateName completes metadata.generateName.
func (*strategy) GenerateName(base string) string {
	const most = 63 - len(suffix)
	return base[:min(len(base), most)] + suffix
}

func (s *strategy) NamespaceScoped() bool                       { return s.namespaced }
func (*strategy) AllowCreateOnUpdate(context.Context) bool      { return false }
func (*strategy) AllowUnconditionalUpdate(context.Context) bool { return false }
func (*strategy) Canonicalize(runtime.Object)                   {}

// PrepareForCreate drops the status.
func (s *strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	object := obj.(*unstructured.Unstructured)
	if s.hasStatus {
		delete(object.Object, "status")
	}
	object.SetGeneration(1)
}

// PrepareForUpdate keeps the stored status.
func (s *strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	if !s.hasStatus {
		return
	}
	object, stored := obj.(*unstructured.Unstructured), old.(*unstructured.Unstructured)
	delete(object.Object, "status")
	if status, ok := stored.Object["status"]; ok {
		object.Object["status"] = status
	}
}

// Validate validates a new object.
func (s *strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	object := obj.(*unstructured.Unstructured).Object
	errs := s.validateMetadata(ctx, operation.Create, object, nil)
	errs = append(errs, validation.ValidateCustomResource(nil, object, s.schema)...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	return s.runRules(ctx, errs, object, nil)
}

// ValidateUpdate validates an update; unchanged errors are ignored (ratcheting, KEP-4008).
func (s *strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	object, stored := obj.(*unstructured.Unstructured).Object, old.(*unstructured.Unstructured).Object
	related := common.NewCorrelatedObject(object, stored, &model.Structural{Structural: s.structural})
	errs := s.validateMetadata(ctx, operation.Update, object, stored)
	errs = append(errs, validation.ValidateCustomResourceUpdate(nil, object, stored, s.schema, validation.WithRatcheting(related))...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, s.structural, false)...)
	if len(listtype.ValidateListSetsAndMaps(nil, s.structural, stored)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	}
	return s.runRules(ctx, errs, object, stored, cel.WithRatcheting(related))
}

// validateMetadata validates metadata as a Go type; stored is nil for a new object.
func (s *strategy) validateMetadata(ctx context.Context, op operation.Type, object, stored map[string]any) field.ErrorList {
	var now, before metav1.ObjectMeta
	for _, m := range []struct {
		object map[string]any
		into   *metav1.ObjectMeta
	}{{object, &now}, {stored, &before}} {
		raw, _ := m.object["metadata"].(map[string]any)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, m.into); err != nil {
			return field.ErrorList{field.Invalid(field.NewPath("metadata"), raw, err.Error())}
		}
	}
	beta := utilfeature.DefaultFeatureGate.Enabled(features.DeclarativeValidationBeta)
	if op == operation.Create {
		return metavalidation.ValidateObjectMetaDeclaratively(ctx, op, &now, nil, s.namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"), beta)
	}
	return metavalidation.ValidateObjectMetaDeclaratively(ctx, op, &now, &before, s.namespaced, nil, field.NewPath("metadata"), beta)
}

// runRules adds the errors of the CEL rules. They rely on the schema, and are skipped if a value is missing, too long,
// not supported or of the wrong type.
func (s *strategy) runRules(ctx context.Context, errs field.ErrorList, object, stored map[string]any, options ...cel.Option) field.ErrorList {
	validator := s.rules()
	if validator == nil {
		return errs
	}
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, rulesSkipped))
		}
	}
	var before any // not a nil map
	if stored != nil {
		before = stored
	}
	failed, _ := validator.Validate(ctx, nil, s.structural, object, before, celconfig.RuntimeCELCostBudget, options...)
	return append(errs, failed...)
}

const rulesSkipped = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
