package workspace

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kyklos.io/kyklos/controller/workspace/store"
	"kyklos.io/kyklos/controller/workspace/turns"
	"kyklos.io/kyklos/internal/lifecycle"
)

// rejection is the error of an action that failed for a reason that the engine counts (D25).
type rejection struct {
	lifecycle.Rejection
	error
}

// Unwrap returns the cause.
func (r *rejection) Unwrap() error { return r.error }

// rejectedForGood: retrying does not help.
func rejectedForGood(err error) error {
	return &rejection{lifecycle.Rejection{Reason: lifecycle.ActionFailed, Final: true, Code: lifecycle.CodeRefused}, err}
}

// rejectedByStore is nil for nil, and turns.ErrBusy itself, for then the store was not called.
func rejectedByStore(err error) error {
	if err == nil || errors.Is(err, turns.ErrBusy) {
		return err
	}
	return &rejection{lifecycle.Rejection{Reason: lifecycle.Unreachable, Code: store.Code(err)}, err}
}

// classify returns what the API server's answer to a write means: nil if the next pass will find out, a rejection if the
// server said no, and the error itself if there was no real answer, which is retried and not counted.
func classify(err error) error {
	refusal := lifecycle.Rejection{Reason: lifecycle.ActionFailed, Code: lifecycle.CodeRefused}
	switch {
	case err == nil, overtaken(err):
		return nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return rejectedForGood(err)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // the deletion of the Workspace follows
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsMethodNotSupported(err):
		return &rejection{refusal, err} // a quota, an admission policy or a missing permission: it may change
	case apierrors.IsInternalError(err):
		refusal.Reason = lifecycle.Unreachable // a webhook that does not answer
		return &rejection{refusal, err}
	}
	return err
}

// overtaken reports whether the object to create exists, or the object to delete is gone or has changed.
func overtaken(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

// asRejection returns the refusal in err, if it is one.
func asRejection(err error) (lifecycle.Rejection, bool) {
	if r, ok := errors.AsType[*rejection](err); ok {
		return r.Rejection, true
	}
	return lifecycle.Rejection{}, false
}
