package storagemigration

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// staleRetry follows a conflict: the watch brings what was written instead.
const staleRetry = 100 * time.Millisecond

// backOff are the waits after the first, second, ... failed pass in a row. Where the manager has just
// started, the API server may need some seconds until it can call our own conversion webhook.
var backOff = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}

// nth returns the wait that the nth time in a row earns, the last one for all further times.
func nth(waits []time.Duration, n int) time.Duration {
	return waits[min(max(n, 1), len(waits))-1]
}

// isRefusal reports that the API server has looked at the object and said no. Other objects may fare
// better, so the migration goes on; one that cannot be converted is such an object, too.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsUnexpectedServerError(err) {
		return false
	}
	return !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err) && !apierrors.IsTimeout(err) &&
		!apierrors.IsServerTimeout(err) && !apierrors.IsUnauthorized(err)
}
