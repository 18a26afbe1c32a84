package admission

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/webhooks/conversion"
)

// CheckConversion checks an update by a v1alpha1 client, which cannot see all fields of v1beta1 (A2). Both
// arguments are v1beta1 objects as JSON.
func CheckConversion(old, obj []byte) (all Findings) {
	if lost := conversion.Lost(old, obj); len(lost) > 0 {
		all = append(all, Finding{Rule: ConversionLoss, Field: shorten(lost[0]), Message: lossMessage(len(lost) - 1)})
	}
	if !conversion.Carries(old) {
		all.refuse(ConversionSize, Other{}, field.Forbidden(field.NewPath("spec"), fmt.Sprintf(
			"too long to be edited through v1alpha1: fields that v1alpha1 does not have are preserved in annotation %s, which would exceed the 256 KiB limit for annotations; use %s",
			conversion.Annotation, v1beta1.GroupVersion)))
	}
	return all
}

// checkConversion is CheckConversion for the update in ctx, if it was made in v1alpha1. The API server has
// already converted its objects to v1beta1 (matchPolicy Equivalent).
func checkConversion(ctx context.Context) Findings {
	req, err := admission.RequestFromContext(ctx)
	if err != nil || req.RequestKind == nil || req.RequestKind.Version != v1alpha1.GroupVersion.Version || len(req.OldObject.Raw) == 0 {
		return nil
	}
	return CheckConversion(req.OldObject.Raw, req.Object.Raw)
}

// lossMessage is about the field of the finding and more others.
func lossMessage(more int) string {
	fields, them := "lost: v1alpha1 does not have this field", "it"
	if more == 1 {
		fields, them = "lost, with 1 more field: v1alpha1 does not have these fields", "them"
	} else if more > 1 {
		fields, them = fmt.Sprintf("lost, with %d more fields: v1alpha1 does not have these fields", more), "them"
	}
	return fmt.Sprintf("%s, and annotation %s, which preserves %s, was removed or changed; use %s", fields, conversion.Annotation, them, v1beta1.GroupVersion)
}
