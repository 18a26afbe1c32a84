package admission

import (
	"context"
	"slices"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/metrics"
)

// Everything that refuses a Workspace is in its schema and its CEL rules, which hold with the webhooks
// down. These fill in and warn.

// +kubebuilder:webhook:mutating=true,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=default.workspace.kyklos.io,path=/mutate-kyklos-io-v1alpha1-workspace,groups=kyklos.io,versions=v1alpha1,resources=workspaces,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,reinvocationPolicy=Never,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`
// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.workspace.kyklos.io,path=/validate-kyklos-io-v1alpha1-workspace,groups=kyklos.io,versions=v1alpha1,resources=workspaces,verbs=create;update,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.spec != oldObject.spec"}]}`

// mutateWorkspacePath is the path of the first marker above.
const mutateWorkspacePath = "/mutate-kyklos-io-v1alpha1-workspace"

// setupWorkspaces serves the webhooks of Workspaces.
func setupWorkspaces(mgr ctrl.Manager, namespaces []string) error {
	mgr.GetWebhookServer().Register(mutateWorkspacePath, &admission.Webhook{Handler: admission.HandlerFunc(defaultWorkspace)})
	return ctrl.NewWebhookManagedBy(mgr, &v1alpha1.Workspace{}).
		WithValidator(&workspaceValidator{facts: workspaceReader{live: mgr.GetAPIReader(), namespaces: namespaces}}).
		Complete()
}

// defaultWorkspace fills in what no schema default can, because it depends on other fields: the amounts
// that are missing in spec.resources. It reads and patches nothing else, for the reason that
// defaultTimeWindowScaler has.
func defaultWorkspace(_ context.Context, req admission.Request) admission.Response {
	return admission.Patched("", workspacePatches(req.Object.Raw)...)
}

// workspaceValidator gathers facts, warns, and counts the verdict.
type workspaceValidator struct{ facts workspaceReader }

var _ admission.Validator[*v1alpha1.Workspace] = &workspaceValidator{}

// ValidateCreate judges a new object.
func (v *workspaceValidator) ValidateCreate(ctx context.Context, obj *v1alpha1.Workspace) (admission.Warnings, error) {
	return v.judge(ctx, metrics.AdmissionCreate, obj, nil), nil
}

// ValidateUpdate judges a change of spec; anything else passes, also where the API server's match
// conditions were taken away.
func (v *workspaceValidator) ValidateUpdate(ctx context.Context, old, obj *v1alpha1.Workspace) (admission.Warnings, error) {
	if obj.DeletionTimestamp != nil || apiequality.Semantic.DeepEqual(old.Spec, obj.Spec) {
		return nil, nil
	}
	return v.judge(ctx, metrics.AdmissionUpdate, obj, old), nil
}

// ValidateDelete lets every deletion pass.
func (*workspaceValidator) ValidateDelete(context.Context, *v1alpha1.Workspace) (admission.Warnings, error) {
	return nil, nil
}

func (v *workspaceValidator) judge(ctx context.Context, operation string, obj, old *v1alpha1.Workspace) admission.Warnings {
	warnings := WarnWorkspace(obj, old, v.facts.gather(ctx, obj, old == nil))
	if len(warnings) > 0 {
		metrics.RecordAdmission(operation, metrics.AdmissionWarned)
		return warnings
	}
	metrics.RecordAdmission(operation, metrics.AdmissionAllowed)
	return nil
}

// gather returns the facts about obj. A fact that cannot be read is left out and logged.
func (r workspaceReader) gather(ctx context.Context, obj *v1alpha1.Workspace, created bool) WorkspaceFacts {
	facts := WorkspaceFacts{Unserved: len(r.namespaces) > 0 && !slices.Contains(r.namespaces, obj.Namespace)}
	if facts.Unserved {
		return facts
	}
	readCtx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	var reads sync.WaitGroup
	if archive := obj.Spec.Archive; archive != nil {
		reads.Go(func() { facts.StoreMissing = r.missing(readCtx, obj.Namespace, secret, archive.StoreRef.Name) })
	}
	if created && obj.Name != "" {
		reads.Go(func() { facts.ForeignPod = r.exists(readCtx, obj.Namespace, pod, "ws-"+obj.Name) })
		reads.Go(func() { facts.ForeignVolume = r.exists(readCtx, obj.Namespace, claim, "ws-"+obj.Name+"-home") })
	}
	reads.Wait()
	return facts
}
