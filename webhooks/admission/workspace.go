package admission

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/internal/targetkind"
)

// Everything that refuses a Workspace is in its schema and CEL rules, which work without the webhooks. These
// set defaults and warn.

// +kubebuilder:webhook:mutating=true,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=default.workspace.kyklos.io,path=/mutate-kyklos-io-v1alpha1-workspace,groups=kyklos.io,versions=v1alpha1,resources=workspaces,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,reinvocationPolicy=Never,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.workspace.kyklos.io,path=/validate-kyklos-io-v1alpha1-workspace,groups=kyklos.io,versions=v1alpha1,resources=workspaces,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`

// mutateWorkspacePath is the path in the first marker above.
const mutateWorkspacePath = "/mutate-kyklos-io-v1alpha1-workspace"

func setupWorkspaces(mgr ctrl.Manager, namespaces []string) error {
	mgr.GetWebhookServer().Register(mutateWorkspacePath, defaulter(targetkind.Workspace.GroupKind()))
	return ctrl.NewWebhookManagedBy(mgr, &v1alpha1.Workspace{}).
		WithValidator(&workspaceValidator{facts: workspaceReader{live: mgr.GetAPIReader(), namespaces: namespaces}}).
		Complete()
}

// workspaceValidator reads facts, applies the rules, and counts the results.
type workspaceValidator struct{ facts workspaceReader }

var _ admission.Validator[*v1alpha1.Workspace] = &workspaceValidator{}

// ValidateCreate checks a new object.
func (v *workspaceValidator) ValidateCreate(ctx context.Context, obj *v1alpha1.Workspace) (admission.Warnings, error) {
	return v.validate(ctx, metrics.AdmissionCreate, obj, nil)
}

// ValidateUpdate checks a change of spec, even without the match conditions in the webhook configuration.
func (v *workspaceValidator) ValidateUpdate(ctx context.Context, old, obj *v1alpha1.Workspace) (admission.Warnings, error) {
	if obj.DeletionTimestamp != nil || apiequality.Semantic.DeepEqual(old.Spec, obj.Spec) {
		return nil, nil
	}
	return v.validate(ctx, metrics.AdmissionUpdate, obj, old)
}

// ValidateDelete allows every deletion.
func (*workspaceValidator) ValidateDelete(context.Context, *v1alpha1.Workspace) (admission.Warnings, error) {
	return nil, nil
}

func (v *workspaceValidator) validate(ctx context.Context, operation string, obj, old *v1alpha1.Workspace) (admission.Warnings, error) {
	findings := CheckWorkspace(obj, old, v.facts.gather(ctx, obj, old == nil))
	return respond(operation, findings, targetkind.Workspace.GroupKind(), obj.Name)
}
