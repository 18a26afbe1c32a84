package admission

import (
	"cmp"
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/targetkind"
)

// Both webhooks let everything pass while they are away (A5), and are not called for deletions, for
// status, and for updates that leave spec alone: finalizers, labels and a migration of stored objects
// can never be held up by them.
//
// Defaulting takes both versions as they are. Converted there and back, an object of v1alpha1 would
// come before its schema and rules as conversion shows it, and not as its author wrote it.

// +kubebuilder:webhookconfiguration:mutating=true,name=kyklos-webhook
// +kubebuilder:webhookconfiguration:mutating=false,name=kyklos-webhook
// +kubebuilder:webhook:mutating=true,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=default.timewindowscaler.kyklos.io,path=/mutate-kyklos-io-v1beta1-timewindowscaler,groups=kyklos.io,versions=v1alpha1;v1beta1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,reinvocationPolicy=Never,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.timewindowscaler.kyklos.io,path=/validate-kyklos-io-v1beta1-timewindowscaler,groups=kyklos.io,versions=v1beta1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`

// mutatePath is where the defaulting webhook is served: the path of its marker above.
const mutatePath = "/mutate-kyklos-io-v1beta1-timewindowscaler"

// SetupWithManager serves the webhooks of both kinds on the manager's webhook server, at the paths of
// their markers. It needs the index targetkind.NameField and the caches that the controller sets up, and shares
// with the controller what kinds there are. namespaces is what those caches hold; none means all.
func SetupWithManager(mgr ctrl.Manager, kinds *targetkind.Resolver, namespaces []string, clock clock.PassiveClock) error {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for discovery: %w", err)
	}
	if err := setupWorkspaces(mgr, namespaces); err != nil {
		return fmt.Errorf("set up those of Workspaces: %w", err)
	}
	mgr.GetWebhookServer().Register(mutatePath, &admission.Webhook{Handler: admission.HandlerFunc(defaultTimeWindowScaler)})
	return ctrl.NewWebhookManagedBy(mgr, &v1beta1.TimeWindowScaler{}).
		WithValidator(&timeWindowScalerValidator{
			facts: factReader{
				cached: mgr.GetClient(), live: mgr.GetAPIReader(), reviews: mgr.GetClient(), kinds: kinds, apis: server,
				namespaces: namespaces,
			},
			clock: clock,
		}).
		Complete()
}

// defaultTimeWindowScaler fills in what no schema default can: spec.targetRef.namespace from the
// object's own namespace, where it is left out. It patches that one field and reads the rest not at
// all: a typed defaulter would send the object's Go form back, in which a forgotten required field
// is a zero, and the schema, which comes after it, would miss nothing. Nothing inside a list is ever
// touched: GitOps tools would show the object out of sync for ever (A5).
func defaultTimeWindowScaler(_ context.Context, req admission.Request) admission.Response {
	return admission.Patched("", timeWindowScalerPatches(req.Object.Raw, req.Namespace)...)
}

// timeWindowScalerValidator gathers facts, applies the rules, and counts the verdict.
type timeWindowScalerValidator struct {
	facts factReader
	clock clock.PassiveClock
}

var _ admission.Validator[*v1beta1.TimeWindowScaler] = &timeWindowScalerValidator{}

// ValidateCreate judges a new object.
func (v *timeWindowScalerValidator) ValidateCreate(ctx context.Context, obj *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	return v.judge(ctx, metrics.AdmissionCreate, obj, nil)
}

// ValidateUpdate judges a change of spec; anything else passes, also where the API server's match
// conditions were taken away.
func (v *timeWindowScalerValidator) ValidateUpdate(ctx context.Context, old, obj *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	if obj.DeletionTimestamp != nil || apiequality.Semantic.DeepEqual(old.Spec, obj.Spec) {
		return nil, nil
	}
	return v.judge(ctx, metrics.AdmissionUpdate, obj, old)
}

// ValidateDelete lets every deletion pass.
func (*timeWindowScalerValidator) ValidateDelete(context.Context, *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	return nil, nil
}

// judge returns the warnings, also beside a refusal: so all can be mended in one go.
func (v *timeWindowScalerValidator) judge(ctx context.Context, operation string, obj, old *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	facts := v.facts.gather(ctx, obj)
	warnings := append(conversionWarnings(ctx), WarnTimeWindowScaler(obj, old, facts, v.clock.Now())...)
	if errs := append(conversionErrors(ctx), ValidateTimeWindowScaler(obj, old, facts)...); len(errs) > 0 {
		metrics.RecordAdmission(operation, metrics.AdmissionDenied)
		return warnings, apierrors.NewInvalid(v1beta1.GroupKind, cmp.Or(obj.Name, obj.GenerateName), errs)
	}
	if len(warnings) > 0 {
		metrics.RecordAdmission(operation, metrics.AdmissionWarned)
		return warnings, nil
	}
	metrics.RecordAdmission(operation, metrics.AdmissionAllowed)
	return nil, nil
}
