package workspace

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

func TestClassify(t *testing.T) {
	pods, why := schema.GroupResource{Resource: "pods"}, errors.New("why")
	leaving := apierrors.NewForbidden(pods, "x", why)
	leaving.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	counted := lifecycle.Rejection{Reason: lifecycle.ActionFailed, Code: lifecycle.CodeRefused}
	final := lifecycle.Rejection{Reason: lifecycle.ActionFailed, Final: true, Code: lifecycle.CodeRefused}
	for _, tc := range []struct {
		err  error
		want lifecycle.Rejection
		nil  bool
	}{
		{err: nil, nil: true},
		{err: apierrors.NewConflict(pods, "x", why), nil: true},
		{err: apierrors.NewNotFound(pods, "x"), nil: true},
		{err: apierrors.NewAlreadyExists(pods, "x"), nil: true},
		{err: leaving, nil: true},
		{err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil), want: final},
		{err: apierrors.NewBadRequest("why"), want: final},
		{err: apierrors.NewForbidden(pods, "x", why), want: counted},
		{err: apierrors.NewInternalError(why), want: lifecycle.Rejection{Reason: lifecycle.Unreachable, Code: lifecycle.CodeRefused}},
		{err: apierrors.NewServiceUnavailable("why")},
		{err: apierrors.NewTooManyRequests("why", 1)},
		{err: apierrors.NewTimeoutError("why", 1)},
		{err: why},
	} {
		got := classify(tc.err)
		no, isRefusal := asRejection(got)
		switch {
		case (got == nil) != tc.nil, no != tc.want, isRefusal != (tc.want != lifecycle.Rejection{}):
			t.Errorf("%v: %v, %+v", tc.err, got, no)
		case got != nil && !errors.Is(got, tc.err):
			t.Errorf("%v: the reason is lost in %v", tc.err, got)
		}
	}
}

// W57: whatever refuses a mover's Pod may change, and a webhook that knows no dry run refuses nothing.
func TestRefusedMover(t *testing.T) {
	pods, why := schema.GroupResource{Resource: "pods"}, errors.New("why")
	counted := lifecycle.Rejection{Reason: lifecycle.ActionFailed, Code: lifecycle.CodeFailedCreate}
	for _, tc := range []struct {
		err  error
		want lifecycle.Rejection
		nil  bool
	}{
		{err: nil, nil: true},
		{err: apierrors.NewBadRequest(`admission webhook "w" does not support dry run`), nil: true},
		{err: apierrors.NewNotFound(pods, "x"), nil: true},
		{err: apierrors.NewForbidden(pods, "x", why), want: counted},
		{err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", nil), want: counted},
		{err: apierrors.NewBadRequest("why"), want: counted},
		{err: apierrors.NewInternalError(why), want: lifecycle.Rejection{Reason: lifecycle.Unreachable, Code: lifecycle.CodeFailedCreate}},
		{err: apierrors.NewTimeoutError("why", 1)},
	} {
		got := refusedMover(tc.err)
		if no, _ := asRejection(got); (got == nil) != tc.nil || no != tc.want {
			t.Errorf("%v: %v, %+v", tc.err, got, no)
		}
	}
}

func TestRejectedByStore(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want lifecycle.Code
	}{
		{fmt.Errorf("homes: %w", archive.ErrBucketMissing), lifecycle.CodeBucketMissing},
		{fmt.Errorf("%w: there is no Secret x", store.ErrNotConfigured), lifecycle.CodeArchiveNotConfigured},
		{archive.ErrUnreachable, lifecycle.CodeStoreUnreachable},
		{archive.ErrDenied, lifecycle.CodeStoreUnreachable},
	} {
		no, ok := asRejection(rejectedByStore(tc.err))
		if want := (lifecycle.Rejection{Reason: lifecycle.Unreachable, Code: tc.want}); !ok || no != want {
			t.Errorf("%v: %+v, want %+v", tc.err, no, want)
		}
	}
}
