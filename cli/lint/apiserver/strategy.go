package apiserver

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/api/operation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	return s.Schema.Validate(ctx, s.validateMetadata(ctx, operation.Create, object, nil), object)
}

// ValidateUpdate validates an update; unchanged errors are ignored (ratcheting, KEP-4008).
func (s *strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	object, stored := obj.(*unstructured.Unstructured).Object, old.(*unstructured.Unstructured).Object
	return s.Schema.ValidateUpdate(ctx, s.validateMetadata(ctx, operation.Update, object, stored), object, stored)
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
