// Package failure classifies the API server's errors and says when to retry.
package failure

import (
	"strings"
	"time"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// soon is the delay of a retry where the API server itself has trouble, which usually passes.
	soon = time.Second
	// later is the delay where a policy, a permission or a webhook has to change.
	later = 30 * time.Second
)

// RetryAfter is the least time until the next attempt after err (B10), which ended a number of attempts in a row.
func RetryAfter(err error, failures int) time.Duration {
	switch {
	case IsRefusal(err), isOfWebhook(err) && failures > 1: // a webhook may just be restarting
		return later
	default:
		return soon
	}
}

// AreAlike reports that two failures may end together, so that a success after one is a reason to try again after
// the other.
func AreAlike(a, b error) bool {
	return IsRefusal(a) == IsRefusal(b) && isOfWebhook(a) == isOfWebhook(b)
}

// isOfWebhook reports that the API server could not ask an admission webhook. That is how it answers
// (k8s.io/apiserver, webhookerrors.ErrCallingWebhook); no code or reason of its own says so.
func isOfWebhook(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
}

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

// Reason names err for a metric label.
func Reason(err error) string {
	if reason := apierrors.ReasonForError(err); reason != "" {
		return string(reason)
	}
	return "Unreachable"
}

// SameText compares two messages without digits. Ports, times and versions in a message change with every
// attempt, and conditions and events must not.
func SameText(a, b error) bool {
	letters := func(err error) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return -1
			}
			return r
		}, err.Error())
	}
	return letters(a) == letters(b)
}
