package admission

import (
	"context"
	"encoding/json"
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
	"kyklos.io/kyklos/webhooks/conversion"
)

// onlyConverted refuses every write in v1alpha1 while the API server does not convert: even with a changed label alone it
// would store the object without what v1alpha1 does not show. Otherwise inner judges those that change more than that.
func onlyConverted(inner *admission.Webhook, converts func() error) *admission.Webhook {
	return &admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		if reason := converts(); reason != nil {
			metrics.RecordAdmission(operationOf(req), metrics.AdmissionDenied)
			return refused(apierrors.NewForbidden(schema.GroupResource{Group: req.Resource.Group, Resource: req.Resource.Resource}, req.Name,
				fmt.Errorf("%s cannot be written now, use %s: %w", v1alpha1.GroupVersion, v1beta1.GroupVersion, reason)))
		}
		if unchanged(req) {
			return admission.Allowed("")
		}
		return inner.Handler.Handle(ctx, req)
	})}
}

// unchanged reports whether an update leaves the spec alone, also the part of it that is in the annotation.
func unchanged(req admission.Request) bool {
	type judged struct {
		Metadata struct{ Annotations map[string]string }
		Spec     any
	}
	var before, now judged
	if json.Unmarshal(req.OldObject.Raw, &before) != nil || json.Unmarshal(req.Object.Raw, &now) != nil {
		return false
	}
	return before.Metadata.Annotations[conversion.Annotation] == now.Metadata.Annotations[conversion.Annotation] &&
		apiequality.Semantic.DeepEqual(before.Spec, now.Spec)
}
