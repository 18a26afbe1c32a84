package workspace

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// PodTrial asks the API server, by a dry run, whether the Pod of a Workspace with a template is valid, and returns what is not, in
// terms of the template (W89). Only what is invalid in itself counts: a quota or a policy may have changed when the Pod starts.
func PodTrial(writer client.Writer) func(context.Context, *v1alpha1.Workspace) field.ErrorList {
	return func(ctx context.Context, ws *v1alpha1.Workspace) field.ErrorList { return tryPod(ctx, writer, ws) }
}

func tryPod(ctx context.Context, writer client.Writer, ws *v1alpha1.Workspace) field.ErrorList {
	pod, err := objects.Pod(ws, lifecycle.Action{Attempt: 1})
	if err != nil {
		return nil // it is told without the API server
	}
	pod.Name, pod.GenerateName = "", pod.Name+"-" // the Workspace may have its Pod
	for i := range pod.OwnerReferences {
		if owner := &pod.OwnerReferences[i]; owner.Name == "" || owner.UID == "" {
			owner.Name, owner.UID = "new", types.UID("new")
		}
	}
	err = writer.Create(ctx, pod, client.DryRunAll)
	status := apierrors.APIStatus(nil)
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var errs field.ErrorList
	for _, cause := range status.Status().Details.Causes {
		errs = append(errs, inTemplate(cause))
	}
	return errs
}

// inTemplate is a cause with the template's field. The parts of the template have the same places in the Pod.
func inTemplate(cause metav1.StatusCause) *field.Error {
	kind := field.ErrorType(cause.Type)
	detail := strings.TrimPrefix(strings.TrimPrefix(cause.Message, kind.String()), ": ")
	at := "spec.template"
	if strings.HasPrefix(cause.Field, "spec") || strings.HasPrefix(cause.Field, "metadata") {
		at += "." + cause.Field
	}
	return &field.Error{Type: kind, Field: at, BadValue: field.OmitValueType{}, Detail: detail}
}
