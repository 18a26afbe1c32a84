package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
)

// onlyConverted refuses every write in v1alpha1 while the API server does not convert: even a changed label would store the
// object without what v1alpha1 does not show, and the old object arrives without it, too.
type onlyConverted struct {
	admission.Validator[*v1beta1.TimeWindowScaler]
	converts func() error
}

// ValidateCreate implements admission.Validator.
func (v onlyConverted) ValidateCreate(ctx context.Context, obj *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	if err := v.refuse(ctx, metrics.AdmissionCreate, obj); err != nil {
		return nil, err
	}
	return v.Validator.ValidateCreate(ctx, obj)
}

// ValidateUpdate implements admission.Validator.
func (v onlyConverted) ValidateUpdate(ctx context.Context, old, obj *v1beta1.TimeWindowScaler) (admission.Warnings, error) {
	if err := v.refuse(ctx, metrics.AdmissionUpdate, obj); err != nil {
		return nil, err
	}
	return v.Validator.ValidateUpdate(ctx, old, obj)
}

func (v onlyConverted) refuse(ctx context.Context, operation string, obj *v1beta1.TimeWindowScaler) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil || req.RequestKind == nil || req.RequestKind.Version != v1alpha1.GroupVersion.Version {
		return nil
	}
	reason := v.converts()
	if reason == nil {
		return nil
	}
	metrics.RecordAdmission(operation, metrics.AdmissionDenied)
	return apierrors.NewForbidden(v1beta1.GroupVersion.WithResource("timewindowscalers").GroupResource(), obj.Name,
		fmt.Errorf("%s cannot be written now; use %s: %w", v1alpha1.GroupVersion, v1beta1.GroupVersion, reason))
}
