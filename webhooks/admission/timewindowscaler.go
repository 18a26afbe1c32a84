package admission

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// Both webhooks fail open (A5), and are not called for deletions, for status, and for updates that leave spec
// unchanged: they can never block finalizers, labels or a migration of stored objects.
//
// Defaulting handles each version as it is. Converted there and back, an object of v1alpha1 would be validated
// as conversion shows it, and not as its author wrote it. Writes in v1alpha1 are validated in v1alpha1.go.

// +kubebuilder:webhookconfiguration:mutating=true,name=kyklos-webhook
// +kubebuilder:webhookconfiguration:mutating=false,name=kyklos-webhook
// +kubebuilder:webhook:mutating=true,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=default.timewindowscaler.kyklos.io,path=/mutate-kyklos-io-v1beta1-timewindowscaler,groups=kyklos.io,versions=v1alpha1;v1beta1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,reinvocationPolicy=Never,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.timewindowscaler.kyklos.io,path=/validate-kyklos-io-v1beta1-timewindowscaler,groups=kyklos.io,versions=v1beta1,resources=timewindowscalers,verbs=create;update,failurePolicy=ignore,matchPolicy=Exact,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`

// mutatePath is the path in the first marker above.
const mutatePath = "/mutate-kyklos-io-v1beta1-timewindowscaler"

// Options configure the webhooks.
type Options struct {
	// Kinds is the controller's resolver.
	Kinds *targetkind.Resolver
	// Namespaces are those in the caches; none means all.
	Namespaces []string
	// Workspaces is where they are served.
	Workspaces targetkind.Scope
	// TryPod asks the API server what is invalid about a Workspace's Pod.
	TryPod func(context.Context, *v1alpha1.Workspace) field.ErrorList
	// CheckRequester refuses a schedule whose author may not scale the target.
	CheckRequester bool
	Clock          clock.PassiveClock
	// Converts returns why the API server does not convert between versions, nil if it does.
	Converts func() error
}

// SetupWithManager registers the webhooks of both kinds with the manager's webhook server. It needs the index
// targetkind.NameField and the caches that the controller sets up.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create a discovery client: %w", err)
	}
	if err := setupWorkspaces(mgr, options); err != nil {
		return fmt.Errorf("set up the webhooks for Workspaces: %w", err)
	}
	mgr.GetWebhookServer().Register(mutatePath, defaulter(v1beta1.GroupKind))
	rules := newTimeWindowScalerValidator(factReader{
		cached: mgr.GetClient(), live: mgr.GetAPIReader(), reviews: mgr.GetClient(), kinds: options.Kinds, apis: server,
		namespaces: options.Namespaces, workspaces: options.Workspaces, checkRequester: options.CheckRequester,
	}, options.Clock)
	mgr.GetWebhookServer().Register(validateV1alpha1Path, onlyConverted(newV1alpha1Validator(admission.WithValidator(mgr.GetScheme(), rules)), options.Converts))
	return ctrl.NewWebhookManagedBy(mgr, &v1beta1.TimeWindowScaler{}).WithValidator(rules).Complete()
}

func newTimeWindowScalerValidator(facts factReader, clock clock.PassiveClock) validator[*v1beta1.TimeWindowScaler] {
	return validator[*v1beta1.TimeWindowScaler]{
		kind: v1beta1.GroupKind,
		spec: func(obj *v1beta1.TimeWindowScaler) any { return &obj.Spec },
		check: func(ctx context.Context, obj, old *v1beta1.TimeWindowScaler) Findings {
			return CheckTimeWindowScaler(obj, old, facts.gather(ctx, obj), clock.Now())
		},
	}
}
