package admission

import (
	"cmp"
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/metrics"
)

// Both webhooks let everything pass while they are away (A5), and are not called for deletions, for
// status, and for updates that leave spec alone: finalizers, labels and a migration of stored objects
// can never be held up by them.

// +kubebuilder:webhookconfiguration:mutating=true,name=kyklos-webhook
// +kubebuilder:webhookconfiguration:mutating=false,name=kyklos-webhook
// +kubebuilder:webhook:mutating=true,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=default.timewindowscaler.kyklos.io,path=/mutate-kyklos-io-v1alpha1-timewindowscaler,groups=kyklos.io,versions=v1alpha1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,reinvocationPolicy=Never,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.timewindowscaler.kyklos.io,path=/validate-kyklos-io-v1alpha1-timewindowscaler,groups=kyklos.io,versions=v1alpha1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`

// SetupWithManager serves the webhooks on the manager's webhook server, at the builder's paths. It
// needs the index targetindex.Field and the caches that the controller sets up.
func SetupWithManager(mgr ctrl.Manager, clock clock.PassiveClock) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1alpha1.TimeWindowScaler{}).
		WithDefaulter(timeWindowScalerDefaulter{}).
		WithValidator(&timeWindowScalerValidator{
			facts: factReader{cached: mgr.GetClient()},
			clock: clock,
		}).
		Complete()
}

// timeWindowScalerDefaulter fills in what no schema default can.
type timeWindowScalerDefaulter struct{}

var _ admission.Defaulter[*v1alpha1.TimeWindowScaler] = timeWindowScalerDefaulter{}

// Default sets spec.targetRef.namespace to the object's own namespace where it is left out. Nothing
// inside a list is ever touched: GitOps tools would show the object out of sync for ever (A5).
func (timeWindowScalerDefaulter) Default(_ context.Context, obj *v1alpha1.TimeWindowScaler) error {
	ref := &obj.Spec.TargetRef
	ref.Namespace = cmp.Or(ref.Namespace, obj.Namespace)
	return nil
}

// timeWindowScalerValidator gathers facts, applies the rules, and counts the verdict.
type timeWindowScalerValidator struct {
	facts factReader
	clock clock.PassiveClock
}

var _ admission.Validator[*v1alpha1.TimeWindowScaler] = &timeWindowScalerValidator{}

// ValidateCreate judges a new object.
func (v *timeWindowScalerValidator) ValidateCreate(ctx context.Context, obj *v1alpha1.TimeWindowScaler) (admission.Warnings, error) {
	return v.judge(ctx, metrics.AdmissionCreate, obj, nil)
}

// ValidateUpdate judges a change of spec; anything else passes, also where the API server's match
// conditions were taken away.
func (v *timeWindowScalerValidator) ValidateUpdate(ctx context.Context, old, obj *v1alpha1.TimeWindowScaler) (admission.Warnings, error) {
	if obj.DeletionTimestamp != nil || apiequality.Semantic.DeepEqual(old.Spec, obj.Spec) {
		return nil, nil
	}
	return v.judge(ctx, metrics.AdmissionUpdate, obj, old)
}

// ValidateDelete lets every deletion pass.
func (*timeWindowScalerValidator) ValidateDelete(context.Context, *v1alpha1.TimeWindowScaler) (admission.Warnings, error) {
	return nil, nil
}

// judge returns the warnings, also beside a refusal: so all can be mended in one go.
func (v *timeWindowScalerValidator) judge(ctx context.Context, operation string, obj, old *v1alpha1.TimeWindowScaler) (admission.Warnings, error) {
	facts := v.facts.gather(ctx, obj)
	warnings := WarnTimeWindowScaler(obj, old, facts, v.clock.Now())
	if errs := ValidateTimeWindowScaler(obj, old, facts); len(errs) > 0 {
		metrics.RecordAdmission(operation, metrics.AdmissionDenied)
		return warnings, apierrors.NewInvalid(v1alpha1.GroupKind, cmp.Or(obj.Name, obj.GenerateName), errs)
	}
	if len(warnings) > 0 {
		metrics.RecordAdmission(operation, metrics.AdmissionWarned)
		return warnings, nil
	}
	metrics.RecordAdmission(operation, metrics.AdmissionAllowed)
	return nil, nil
}
