package timewindowscaler

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
)

// outcome is what act did.
type outcome struct {
	scaled bool
	from   int32
	// target is how the API server described the target after the write; without one, as observed.
	target target.Target
	// at is when the write had succeeded.
	at time.Time
	// refused is why the API server does not let us scale, where retrying alone does not help; failed is why
	// it cannot be done for some time already.
	refused, failed error
}

// trouble is why the target is not written; nil if it is.
func (o *outcome) trouble() error { return cmp.Or(o.refused, o.failed) }

// act writes what the plan asks for, by one PATCH with the resourceVersion that the plan saw, never
// the whole object (B9). It returns the error of a write that is repeated before anything is reported.
func (r *Reconciler) act(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs observation, p decision, state *scalerState) (outcome, error) {
	done := outcome{target: obs.target}
	work := attempts.ID{Scaler: client.ObjectKeyFromObject(tws), Work: attempts.WriteTarget}
	if !p.Write {
		if obs.unavailable == nil {
			r.attempts.Over(work)
		} else {
			r.attempts.Leave(work)
		}
		return done, nil
	}
	key := types.NamespacedName{Namespace: tws.Namespace, Name: tws.Spec.TargetRef.Name}
	cause := attempts.Cause{Generation: tws.Generation, Target: obs.target.Base().UID, Until: p.wakeUp}
	r.echoes.expect(work.Scaler, obs.target.Base().UID, p.desired())
	written, err := attempts.Do(ctx, r.attempts, work, targetLane(tws), cause, func(ctx context.Context) (target.Target, error) {
		return target.KindOf(tws.Spec.TargetRef).Write(ctx, &r.Clients, key, obs.target, p.desired())
	})
	switch {
	case err == nil:
		done.scaled, done.from, done.target, done.at = true, obs.target.Base().Spec, written, r.Clock.Now()
		state.target.Wrote(written)
		return done, nil
	case failure.IsRefusal(err):
		done.refused = err
	case lasts(err):
		done.failed = err
	default:
		return done, err
	}
	r.recordFailure(ctx, work.Scaler, err)
	return done, nil
}

// targetLane is the lane of requests about the scaler's target.
func targetLane(tws *v1beta1.TimeWindowScaler) attempts.Lane {
	return attempts.Lane{Namespace: tws.Namespace, Kind: targetkind.Of(tws.Spec.TargetRef).GroupKind()}
}
