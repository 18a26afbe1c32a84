package admission

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/podtemplate"
)

// checkTemplate refuses a template of which no Pod can be made (W89). One that was stored while the webhooks were away does
// not keep anybody from changing the rest of the spec.
func (all *Findings) checkTemplate(obj, old *v1alpha1.Workspace, facts WorkspaceFacts) {
	if !templateChanges(obj, old) {
		return
	}
	_, errs := podtemplate.Read(&obj.Spec)
	if len(errs) == 0 {
		errs = facts.PodInvalid
	}
	all.refuse(TemplateInvalid, Other{}, errs...)
	if old != nil && len(errs) == 0 {
		all.checkUser(obj, old)
	}
}

// templateChanges reports whether there is a template, or was one, and anything is new that it is judged by.
func templateChanges(obj, old *v1alpha1.Workspace) bool {
	if old == nil {
		return obj.Spec.Template != nil
	}
	return (obj.Spec.Template != nil || old.Spec.Template != nil) && !sameTemplate(&obj.Spec, &old.Spec)
}

// sameTemplate reports whether all that the template is judged by is as before.
func sameTemplate(a, b *v1alpha1.WorkspaceSpec) bool {
	return apiequality.Semantic.DeepEqual(a.WorkspacePod, b.WorkspacePod) && apiequality.Semantic.DeepEqual(a.Archive, b.Archive) &&
		a.Storage.MountPath == b.Storage.MountPath
}

// checkUser refuses another user while the files of the earlier one are on the volume: it could not read them, and neither could
// its movers. A restore gives all files to the new one (W90).
func (all *Findings) checkUser(obj, old *v1alpha1.Workspace) {
	now, before := podtemplate.User(&obj.Spec), podtemplate.User(&old.Spec)
	if now == before || !onVolume(&obj.Status) {
		return
	}
	at := field.NewPath("spec", "template", "spec", "securityContext", "runAsUser")
	all.refuse(TemplateInvalid, Other{}, field.Forbidden(at, fmt.Sprintf(
		"must not change while the home is on its volume, where its files belong to user %d: archive it first, with desiredState PENDING, and then change this", before)))
}

// onVolume reports whether there are files of a user on the volume, or are about to be.
func onVolume(status *v1alpha1.WorkspaceStatus) bool {
	switch status.Phase {
	case "":
		return false
	case v1alpha1.Phase(v1alpha1.DesiredPending):
		return status.Operation != nil && status.Operation.Type == v1alpha1.OperationRestoring
	case v1alpha1.PhaseError:
		return status.Volume != nil && lifecycle.Content(status.Volume.Content).IsHome()
	}
	return true
}
