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

// conversionWarnings are WarnConversion's for clients of v1alpha1. Nothing for those of v1beta1, and on
// create.
func conversionWarnings(ctx context.Context) []string {
	if req, ok := olderRequest(ctx); ok {
		return WarnConversion(req.OldObject.Raw, req.Object.Raw)
	}
	return nil
}

// conversionErrors are ValidateConversion's for clients of v1alpha1.
func conversionErrors(ctx context.Context) field.ErrorList {
	if req, ok := olderRequest(ctx); ok {
		return ValidateConversion(req.OldObject.Raw)
	}
	return nil
}

// WarnConversion says what a client of v1alpha1 took from an object of v1beta1 without seeing it: it left
// out the annotation that carries it (A2). Both are the object as v1beta1, as JSON.
func WarnConversion(old, obj []byte) []string {
	lost := conversion.Lost(old, obj)
	if len(lost) == 0 {
		return nil
	}
	what, them := shorten(lost[0])+" was", "it"
	switch more := len(lost) - 1; {
	case more == 1:
		what, them = shorten(lost[0])+" and 1 more field were", "them"
	case more > 1:
		what, them = fmt.Sprintf("%s and %d more fields were", shorten(lost[0]), more), "them"
	}
	return []string{fmt.Sprintf("%s lost: v1alpha1 cannot say %s, and the annotation %s, which carries %[2]s, was left out or changed; use %[4]s",
		what, them, conversion.Annotation, v1beta1.GroupVersion)}
}

// ValidateConversion refuses an edit through v1alpha1 of an object that it cannot carry: all that only
// v1beta1 can say would be lost, and the client has no way to keep it. old is the object as v1beta1, as JSON.
func ValidateConversion(old []byte) field.ErrorList {
	if conversion.Carries(old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), fmt.Sprintf(
		"too long to be edited through v1alpha1: the annotation %s would have to carry what v1alpha1 cannot say, and annotations have 256 KiB at most; use %s",
		conversion.Annotation, v1beta1.GroupVersion))}
}

// olderRequest returns the request if it is an update in v1alpha1. Its objects are in v1beta1: the
// API server has converted them (matchPolicy Equivalent).
func olderRequest(ctx context.Context) (admission.Request, bool) {
	req, err := admission.RequestFromContext(ctx)
	older := err == nil && req.RequestKind != nil && req.RequestKind.Version == v1alpha1.GroupVersion.Version
	return req, older && len(req.OldObject.Raw) > 0
}
