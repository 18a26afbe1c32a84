package admission

import (
	"cmp"
	"context"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/targetkind"
)

// Both webhooks fail open (A5), and are not called for deletions, for status, and for updates that leave spec
// unchanged: they can never block finalizers, labels or a migration of stored objects.
//
// Defaulting handles each version as it is. Converted there and back, an object of v1alpha1 would be validated
// as conversion shows it, and not as its author wrote it.

// +kubebuilder:webhookconfiguration:mutating=true,name=kyklos-webhook
// +kubebuilder:webhookconfiguration:mutating=false,name=kyklos-webhook
// +kubebuilder:webhook:mutating=true,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=default.timewindowscaler.kyklos.io,path=/mutate-kyklos-io-v1beta1-timewindowscaler,groups=kyklos.io,versions=v1alpha1;v1beta1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,reinvocationPolicy=Never,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.timewindowscaler.kyklos.io,path=/validate-kyklos-io-v1beta1-timewindowscaler,groups=kyklos.io,versions=v1beta1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`

// mutatePath is the path in the first marker above.
const mutatePath = "/mutate-kyklos-io-v1beta1-timewindowscaler"

// SetupWithManager registers the webhooks of both kinds with the manager's webhook server. It needs the index
// targetindex.Field and the caches that the controller sets up, and shares its resolver of kinds. namespaces
// are those in the caches; none means all.
func SetupWithManager(mgr ctrl.Manager, kinds *targetkind.Resolver, namespaces []string, clock clock.PassiveClock) error {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create a discovery client: %w", err)
	}
	if err := setupWorkspaces(mgr, namespaces); err != nil {
		return fmt.Errorf("set up the webhooks for Workspaces: %w", err)
	}
	mgr.GetWebhookServer().Register(mutatePath, defaulter(v1beta1.GroupKind))
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

// defaulter is the defaulting webhook of a kind. It patches single fields: a typed defaulter would send back
// the object's Go form, in which a forgotten required field is zero, and the schema, which is checked later,
// would not report it.
func defaulter(kind schema.GroupKind) *admission.Webhook {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, req admission.Request) admission.Response {
		return admission.Patched("", Patches(kind, req.Object.Raw, req.Namespace)...)
	})}
}

// timeWindowScalerValidator reads facts, applies the rules, and counts the results.
type timeWindowScalerValidator struct {
	facts factReader
	clock clock.PassiveClock
}

var _ admission.Validator[*v1beta1.TimeWindowScaler] = &timeWindowScalerValidator{}

// ValidateCreate checks a new object.
func (v *timeWindowScalerValidator) ValidateCreate(ctx context.Context, obj *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	return v.validate(ctx, metrics.AdmissionCreate, obj, nil)
}

// ValidateUpdate checks a change of spec, even without the match conditions in the webhook configuration.
func (v *timeWindowScalerValidator) ValidateUpdate(ctx context.Context, old, obj *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	if obj.DeletionTimestamp != nil || apiequality.Semantic.DeepEqual(old.Spec, obj.Spec) {
		return nil, nil
	}
	return v.validate(ctx, metrics.AdmissionUpdate, obj, old)
}

// ValidateDelete allows every deletion.
func (*timeWindowScalerValidator) ValidateDelete(context.Context, *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	return nil, nil
}

func (v *timeWindowScalerValidator) validate(ctx context.Context, operation string, obj, old *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	findings := append(checkConversion(ctx), CheckTimeWindowScaler(obj, old, v.facts.gather(ctx, obj), v.clock.Now())...)
	return respond(operation, findings, v1beta1.GroupKind, cmp.Or(obj.Name, obj.GenerateName))
}

// respond counts the result, and returns the warnings even with an error, so that all can be fixed at once.
func respond(operation string, findings Findings, kind schema.GroupKind, name string) (admission.Warnings, error) {
	warnings := findings.Warnings()
	if errs := findings.Errors(); len(errs) > 0 {
		metrics.RecordAdmission(operation, metrics.AdmissionDenied)
		return warnings, apierrors.NewInvalid(kind, name, errs)
	}
	result := metrics.AdmissionAllowed
	if len(warnings) > 0 {
		result = metrics.AdmissionWarned
	}
	metrics.RecordAdmission(operation, result)
	return warnings, nil
}
