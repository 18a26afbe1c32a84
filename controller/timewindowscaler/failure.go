package timewindowscaler

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Fixed delays of B10 for what only a change of the world mends.
const (
	semanticRetry      = 5 * time.Minute
	missingTargetRetry = 30 * time.Second
	// staleRetry follows a conflict: at once, but not in a tight loop.
	staleRetry = 10 * time.Millisecond
)

// backOff are the delays after the first, second, ... transient failure in a row (B10).
var backOff = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// isStale reports that the write was decided on an outdated reading: read again, decide again.
func isStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// isRefusal reports that the API server understood and said no; only a change of permissions, policy or
// object helps, so the user has to be told.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsUnauthorized(err)
}

// isUnreachable reports that the API server did not answer, or that what answered stands in for it.
func isUnreachable(err error) bool {
	reason := apierrors.ReasonForError(err)
	return err != nil && (reason == "" || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err))
}

// failureReason names err for a metric label.
func failureReason(err error) string {
	if reason := apierrors.ReasonForError(err); reason != "" {
		return string(reason)
	}
	return "Unreachable"
}
