package timecalc

import "time"

// ApplyGracePeriod delays a decrease by gracePeriodSeconds (R9). previousReplicas is what is in
// force, gracePeriodExpiry the end of a grace period that runs, or nil. It returns the replicas to
// apply at now and the expiry to remember, nil when no grace period runs.
//
// An increase, or no change, applies at once and cancels a running grace period. A further decrease
// meanwhile keeps the expiry (B2). A grace period of zero seconds, or fewer, is none.
func ApplyGracePeriod(previousReplicas, desiredReplicas, gracePeriodSeconds int32, gracePeriodExpiry *time.Time, now time.Time) (finalReplicas int32, newExpiry *time.Time) {
	if desiredReplicas >= previousReplicas || gracePeriodSeconds <= 0 {
		return desiredReplicas, nil
	}
	if gracePeriodExpiry == nil {
		expiry := now.Add(time.Duration(gracePeriodSeconds) * time.Second)
		return previousReplicas, &expiry
	}
	if now.Before(*gracePeriodExpiry) {
		return previousReplicas, gracePeriodExpiry
	}
	return desiredReplicas, nil
}
