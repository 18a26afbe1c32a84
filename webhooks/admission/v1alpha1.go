package admission

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/webhooks/conversion"
)

// Writes in v1alpha1 have a webhook of their own. It gets them as they were written: converted by the API server, the old
// object would look as if it never had what the new one loses. It fails closed, which costs nothing: no write in v1alpha1
// can be stored while the conversion webhook, of the same server, is down. It is also called for changes of the
// annotation alone. Objects that conversion has cut do not get this far: conversion refuses them (conversion.ErrCut).

// +kubebuilder:webhook:mutating=false,serviceName=kyklos-webhook,serviceNamespace=kyklos-system,name=validate.v1alpha1.timewindowscaler.kyklos.io,path=/validate-kyklos-io-v1alpha1-timewindowscaler,groups=kyklos.io,versions=v1alpha1,resources=timewindowscalers,verbs=create;update,failurePolicy=fail,matchPolicy=Exact,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1,patch=`{"matchConditions":[{"name":"not-deleting","expression":"!has(object.metadata.deletionTimestamp)"},{"name":"spec-changed","expression":"request.operation == 'CREATE' || object.?spec != oldObject.?spec || object.metadata.?annotations[?'kyklos.io/v1beta1-spec'] != oldObject.metadata.?annotations[?'kyklos.io/v1beta1-spec']"}]}`

// validateV1alpha1Path is the path in the marker above.
const validateV1alpha1Path = "/validate-kyklos-io-v1alpha1-timewindowscaler"

// newV1alpha1Validator judges a write as the v1beta1 object that it stores: by the rules for conversion, and then by those
// for v1beta1.
func newV1alpha1Validator(rules *admission.Webhook) *admission.Webhook {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		return validateV1alpha1(ctx, req, rules.Handler)
	})}
}

func validateV1alpha1(ctx context.Context, req admission.Request, rules admission.Handler) admission.Response {
	var stored []byte
	if len(req.OldObject.Raw) > 0 {
		var err error
		if stored, err = conversion.ToV1beta1(req.OldObject.Raw); err != nil {
			return admission.Errored(http.StatusUnprocessableEntity, err)
		}
	}
	hub, findings, err := CheckConversion(ctx, stored, req.Object.Raw)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if errs := findings.Errors(); len(errs) > 0 {
		metrics.RecordAdmission(operationOf(req), metrics.AdmissionDenied)
		return refused(apierrors.NewInvalid(v1beta1.GroupKind, req.Name, errs))
	}
	req.Object = runtime.RawExtension{Raw: hub}
	if stored != nil {
		req.OldObject = runtime.RawExtension{Raw: stored}
	}
	req.Kind = metav1.GroupVersionKind(v1beta1.GroupVersion.WithKind(v1beta1.Kind))
	return rules.Handle(ctx, req)
}

func operationOf(req admission.Request) string {
	if len(req.OldObject.Raw) > 0 {
		return metrics.AdmissionUpdate
	}
	return metrics.AdmissionCreate
}

func refused(err *apierrors.StatusError) admission.Response {
	status := err.Status()
	response := admission.Denied("")
	response.Result = &status
	return response
}
