package admission

import (
	"cmp"
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/internal/metrics"
)

// defaulter is the defaulting webhook of a kind. It patches single fields: a typed defaulter would send back
// the object's Go form, in which a forgotten required field is zero, and the schema, which is checked later,
// would not report it.
func defaulter(kind schema.GroupKind) *admission.Webhook {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, req admission.Request) admission.Response {
		return admission.Patched("", Patches(kind, req.Object.Raw, req.OldObject.Raw, req.Namespace)...)
	})}
}

// validator is the validating webhook of a kind. It turns findings into errors and warnings, and counts the results.
type validator[T client.Object] struct {
	kind  schema.GroupKind
	spec  func(T) any
	check func(ctx context.Context, obj, old T) Findings // old is nil on create
}

// ValidateCreate checks a new object.
func (v validator[T]) ValidateCreate(ctx context.Context, obj T) (admission.Warnings, error) {
	if err := checkNamespace(ctx, obj); err != nil {
		return nil, err
	}
	var old T
	return v.respond(metrics.AdmissionCreate, obj, v.check(ctx, obj, old))
}

// ValidateUpdate checks a change of spec, even without the match conditions in the webhook configuration.
func (v validator[T]) ValidateUpdate(ctx context.Context, old, obj T) (admission.Warnings, error) {
	if obj.GetDeletionTimestamp() != nil || apiequality.Semantic.DeepEqual(v.spec(old), v.spec(obj)) {
		return nil, nil
	}
	if err := checkNamespace(ctx, obj); err != nil {
		return nil, err
	}
	return v.respond(metrics.AdmissionUpdate, obj, v.check(ctx, obj, old))
}

// ValidateDelete allows every deletion.
func (validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

// checkNamespace refuses a request that no API server sends: facts are read in the object's namespace, and the user's
// rights are reviewed in the request's.
func checkNamespace(ctx context.Context, obj client.Object) error {
	req, err := admission.RequestFromContext(ctx)
	if err == nil && req.Namespace != obj.GetNamespace() {
		return apierrors.NewBadRequest(fmt.Sprintf("metadata.namespace is %q, but the request is for namespace %q", obj.GetNamespace(), req.Namespace))
	}
	return nil
}

// respond returns the warnings even with an error, so that all can be fixed at once.
func (v validator[T]) respond(operation string, obj T, findings Findings) (admission.Warnings, error) {
	warnings := findings.Warnings()
	if errs := findings.Errors(); len(errs) > 0 {
		metrics.RecordAdmission(operation, metrics.AdmissionDenied)
		return warnings, apierrors.NewInvalid(v.kind, cmp.Or(obj.GetName(), obj.GetGenerateName()), errs)
	}
	result := metrics.AdmissionAllowed
	if len(warnings) > 0 {
		result = metrics.AdmissionWarned
	}
	metrics.RecordAdmission(operation, result)
	return warnings, nil
}
