package admission

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/targetkind"
)

// What refuses a Workspace is in its schema and CEL rules, which work without the webhooks, except for spec.template, which is
// judged as a Pod (W89): while the webhooks are away, the controller refuses it. These set defaults and warn.

// +kubebuilder:webhook:mutating=true,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=default.workspace.kyklos.io,path=/mutate-kyklos-io-v1alpha1-workspace,groups=kyklos.io,versions=v1alpha1,resources=workspaces,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,reinvocationPolicy=Never,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.workspace.kyklos.io,path=/validate-kyklos-io-v1alpha1-workspace,groups=kyklos.io,versions=v1alpha1,resources=workspaces,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`

// mutateWorkspacePath is the path in the first marker above.
const mutateWorkspacePath = "/mutate-kyklos-io-v1alpha1-workspace"

func setupWorkspaces(mgr ctrl.Manager, options Options) error {
	if options.Workspaces.Off {
		return nil
	}
	mgr.GetWebhookServer().Register(mutateWorkspacePath, defaulter(targetkind.Workspace.GroupKind()))
	return ctrl.NewWebhookManagedBy(mgr, &v1alpha1.Workspace{}).
		WithValidator(newWorkspaceValidator(workspaceReader{
			live: mgr.GetAPIReader(), reviews: mgr.GetClient(), namespaces: options.Namespaces, scope: options.Workspaces, tryPod: options.TryPod,
		})).
		Complete()
}

func newWorkspaceValidator(facts workspaceReader) validator[*v1alpha1.Workspace] {
	return validator[*v1alpha1.Workspace]{
		kind: targetkind.Workspace.GroupKind(),
		spec: func(obj *v1alpha1.Workspace) any { return &obj.Spec },
		check: func(ctx context.Context, obj, old *v1alpha1.Workspace) Findings {
			return CheckWorkspace(obj, old, facts.gather(ctx, obj, old))
		},
	}
}
