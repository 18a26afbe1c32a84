package workspace

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kyklos.io/kyklos/controller/workspace/stores"
	"kyklos.io/kyklos/internal/lifecycle"
)

// refused is an action that failed for a reason that the engine counts (D25).
type refused struct {
	lifecycle.Refusal
	err error
}

// Error says why.
func (r *refused) Error() string { return r.err.Error() }

// Unwrap is why.
func (r *refused) Unwrap() error { return r.err }

// refusedForGood is an action that fails in the same way however often it is tried.
func refusedForGood(err error) error {
	return &refused{lifecycle.Refusal{Reason: lifecycle.ActionFailed, Final: true, Code: lifecycle.CodeRefused}, err}
}

// refusedByStore is an action for which the store was needed.
func refusedByStore(err error) error {
	return &refused{lifecycle.Refusal{Reason: lifecycle.Unreachable, Code: stores.Code(err)}, err}
}

// judged says what an answer of the API server to a write means: nil where the next look tells more, a
// refusal where the answer was a no, and the error itself where there was no answer to speak of, which
// is tried again and not counted.
func judged(err error) error {
	no := lifecycle.Refusal{Reason: lifecycle.ActionFailed, Code: lifecycle.CodeRefused}
	switch {
	case err == nil, overtaken(err):
		return nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return refusedForGood(err)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // nothing new can be made here; the deletion is on its way
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsMethodNotSupported(err):
		return &refused{no, err} // a quota, an admission rule, a missing permission: it may change
	case apierrors.IsInternalError(err):
		no.Reason = lifecycle.Unreachable // a webhook that does not answer
		return &refused{no, err}
	}
	return err
}

// overtaken reports whether somebody else was first: what was to be made is there, what was to be
// deleted is gone, or is not what it was.
func overtaken(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

// refusal returns the refusal in err, if it is one.
func refusal(err error) (lifecycle.Refusal, bool) {
	if no, ok := errors.AsType[*refused](err); ok {
		return no.Refusal, true
	}
	return lifecycle.Refusal{}, false
}
