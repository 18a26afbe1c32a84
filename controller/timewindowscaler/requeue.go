package timewindowscaler

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Fixed delays of B10 for what only a change of the cluster fixes.
const (
	semanticRetry      = 5 * time.Minute
	missingTargetRetry = 30 * time.Second
	// reportRetry is when trouble that was not worth a report yet is looked at again. The attempts wake the
	// scaler earlier.
	reportRetry = 30 * time.Second
	// staleRetry follows a conflict: at once, but not in a tight loop.
	staleRetry = 10 * time.Millisecond
)

// Requeue are the five numbers of the requeue formula (T6).
type Requeue struct {
	// JitterMin and JitterMax bound the delay after a boundary that spreads scalers which share
	// one. JitterMax 0 means exactly at the boundary: no quantum and no minimum either.
	JitterMin, JitterMax time.Duration
	// Quantum is what delays are rounded down to.
	Quantum time.Duration
	// Min and Max bound every delay.
	Min, Max time.Duration
}

// DefaultRequeue holds the defaults (T6).
var DefaultRequeue = Requeue{
	JitterMin: 5 * time.Second,
	JitterMax: 25 * time.Second,
	Quantum:   10 * time.Second,
	Min:       30 * time.Second,
	Max:       24 * time.Hour,
}

// Validate names the flag in its error.
func (q Requeue) Validate() error {
	for _, flag := range []struct {
		name  string
		value time.Duration
	}{
		{"requeue-jitter-min", q.JitterMin}, {"requeue-jitter-max", q.JitterMax},
		{"requeue-quantum", q.Quantum}, {"requeue-min", q.Min},
	} {
		if flag.value < 0 {
			return fmt.Errorf("--%s: must be 0 or more, not %s", flag.name, flag.value)
		}
	}
	switch {
	case q.JitterMin > q.JitterMax && q.JitterMax > 0:
		return fmt.Errorf("--requeue-jitter-min: must not exceed --requeue-jitter-max %s, but is %s", q.JitterMax, q.JitterMin)
	case q.Max < q.Min || q.Max <= 0:
		return fmt.Errorf("--requeue-max: must be above 0 and not below --requeue-min %s, but is %s", q.Min, q.Max)
	}
	return nil
}

// After returns how long to wait for wakeUp: max(Min, min(Max, floor(wait+jitter, Quantum))), and
// never less than wait itself, which the floor alone could give (T6). The jitter follows from the
// object and the boundary, so it is reproducible.
func (q Requeue) After(now, wakeUp time.Time, uid types.UID) time.Duration {
	wait := max(wakeUp.Sub(now), 0)
	if q.JitterMax == 0 {
		return min(wait, q.Max)
	}
	delay := wait + q.jitter(uid, wakeUp)
	if q.Quantum > 0 {
		delay = delay.Truncate(q.Quantum)
		if delay < wait {
			delay += q.Quantum
		}
	}
	return max(q.Min, min(q.Max, delay))
}

func (q Requeue) jitter(uid types.UID, wakeUp time.Time) time.Duration {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(uid))
	_ = binary.Write(hash, binary.LittleEndian, wakeUp.Unix())
	span := uint64(q.JitterMax-q.JitterMin) + 1
	return q.JitterMin + time.Duration(hash.Sum64()%span)
}

// boundaryPriority puts due boundaries first in the queue. An item keeps its priority over requeues, and
// those of the first list have a low one, so every result sets it.
const boundaryPriority = 100

// reportPriority puts the passes that report last: behind those of the first list, in which a target may be due.
const reportPriority = 2 * handler.LowPriority

func after(delay time.Duration) reconcile.Result {
	return reconcile.Result{RequeueAfter: max(delay, time.Nanosecond), Priority: ptr.To(boundaryPriority)}
}

// lessThat shortens a wait, which was computed as of the beginning of a pass, by what the pass has taken.
func lessThat(result reconcile.Result, taken time.Duration) reconcile.Result {
	if result.RequeueAfter > 0 {
		result.RequeueAfter = max(result.RequeueAfter-max(taken, 0), time.Nanosecond)
	}
	return result
}

// untilOr is delay, but never past wakeUp: the next boundary (B10), or what comes before it (T5). A zero wakeUp,
// or one that has passed, is none.
func untilOr(delay time.Duration, now, wakeUp time.Time) time.Duration {
	if wait := wakeUp.Sub(now); !wakeUp.IsZero() && wait > 0 {
		return min(delay, wait)
	}
	return delay
}
