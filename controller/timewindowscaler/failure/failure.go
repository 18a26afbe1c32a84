// Package failure classifies the API server's errors, says when to retry, and wakes those that failed once
// the API server is back after an outage.
package failure

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// BackOff are the delays after the first, second, ... transient failure in a row (B10).
var BackOff = []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// IsStale reports that the write was decided on an outdated reading: read again, decide again.
func IsStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// IsRefusal reports that the API server understood and refused. Only a change of permissions, policy or
// object helps, so the user has to know.
func IsRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsUnauthorized(err)
}

// IsUnreachable reports that the API server did not answer, or that a proxy answered for it.
func IsUnreachable(err error) bool {
	reason := apierrors.ReasonForError(err)
	return err != nil && (reason == "" || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err))
}

// Reason names err for a metric label.
func Reason(err error) string {
	if reason := apierrors.ReasonForError(err); reason != "" {
		return string(reason)
	}
	return "Unreachable"
}
