package timewindowscaler

import (
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

// graceLength is how long a grace period runs, for messages. It can be edited while it runs.
type graceLength struct {
	// since is when the one that runs began; zero without one. It is remembered from pass to pass.
	since time.Time
	// seconds is the length of the one that runs, starts or has ended in this pass.
	seconds int32
	// edited: an edit of the spec has moved its end.
	edited bool
}

// lengthOf measures the grace period of this pass. After a restart its beginning is not known; then the spec's
// length counts.
func lengthOf(g grace, since time.Time, tws *v1beta1.TimeWindowScaler) graceLength {
	seconds, before := tws.Spec.GracePeriodSeconds, tws.Status.GracePeriodExpiry
	whole := time.Duration(seconds) * time.Second
	switch {
	case g.expiry == nil && (!g.ended || before == nil || since.IsZero()):
		return graceLength{seconds: seconds}
	case g.expiry == nil:
		return graceLength{seconds: int32(g.end.Sub(since) / time.Second)}
	case before == nil:
		return graceLength{since: g.expiry.Add(-whole), seconds: seconds}
	case since.IsZero():
		since = before.Add(-whole)
	}
	edited := !g.expiry.Equal(before.Time) && tws.Status.ObservedGeneration != tws.Generation
	return graceLength{since: since, seconds: int32(g.expiry.Sub(since) / time.Second), edited: edited}
}
