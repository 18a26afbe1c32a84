package timewindowscaler

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/schedule"
)

// observation is all that a plan depends on but the scaler itself and the time.
type observation struct {
	// refused is what the schema refuses in the spec, however it was stored.
	refused field.ErrorList
	// unchecked: the schema was not asked yet.
	unchecked bool
	target    target.Target // nil if it does not exist
	// obstacle is why the target's kind cannot be a target, or not be read; see target.IsObstacle.
	obstacle error
	// unavailable is why the target cannot be read for some time already, and unwatched why its changes may
	// go unnoticed.
	unavailable, unwatched error
	// overdue is the boundary that made the last plan's write due, if it was not written; see due.
	overdue time.Time
	// owner is the name of the scaler that owns the target, "" if the target is ours (B8). takesOver is when it becomes
	// ours, because that scaler is gone.
	owner     string
	takesOver time.Time
	// autoscaler is the name of an HPA on the same target, "" if there is none or it is free to scale between boundaries.
	autoscaler string
	holidays   holidays
	// graceSince is when the grace period that runs began; zero without one, and after a restart.
	graceSince time.Time
	metric     metricObservation
	fight      fightObservation
	heartbeat  heartbeat
}

// metricObservation is the state of the window's metric: the polls, the last decision, and the flag.
type metricObservation struct {
	sample    extmetric.Sample
	before    extmetric.Decision
	tolerance float64
}

// fightObservation is the state of a fight: the last decision, the flag, and the rival's name if it
// was looked up.
type fightObservation struct {
	before  contention.Fight
	enforce bool
	rival   string
}

// observe reads all that a plan depends on.
func (r *Reconciler) observe(ctx context.Context, tws *v1beta1.TimeWindowScaler, state *scalerState, now time.Time) (observation, error) {
	obs := observation{
		graceSince: state.graceSince,
		metric:     metricObservation{sample: r.metrics.Sample(client.ObjectKeyFromObject(tws)), before: state.metric, tolerance: r.tolerance},
		fight:      fightObservation{before: state.fight, enforce: r.enforce},

		overdue: state.overdue,
	}
	clients, work := r.Clients, attempts.ID{Scaler: client.ObjectKeyFromObject(tws), Work: attempts.ReadTarget}
	clients.Paced = func(ctx context.Context, send func(context.Context) (any, error)) (any, error) {
		return attempts.Do(ctx, r.attempts, work, targetLane(tws), attempts.Cause{Generation: tws.Generation}, send)
	}
	var err error
	if obs.unchecked = state.refused.canWait(tws); !obs.unchecked {
		if obs.refused, err = state.refused.of(ctx, &tws.Spec); err != nil {
			return obs, err
		}
	}
	obs.target, err = target.Read(ctx, &clients, tws.Namespace, tws.Spec.TargetRef, &state.target, now)
	switch {
	case target.IsObstacle(err):
		obs.obstacle = err
	case lasts(err):
		obs.unavailable = err
		r.recordFailure(ctx, work.Scaler, err)
	case err != nil:
		return obs, err
	default:
		r.attempts.Over(work)
		obs.unwatched = target.Trouble(&clients, tws.Spec.TargetRef)
	}
	if obs.holidays, err = r.observeHolidays(ctx, tws); err != nil {
		return obs, err
	}
	owner, err := contention.Owner(ctx, r.Client, tws)
	if err != nil {
		return obs, err
	}
	state.claim = state.claim.Follow(tws.Spec.TargetRef, owner, now)
	obs.owner, obs.takesOver = state.claim.Owner, state.claim.TakesOver()
	if schedule.DriftPolicy(&tws.Spec) == v1beta1.DriftEnforce { // otherwise the two do not overwrite each other
		obs.autoscaler, err = contention.Autoscaler(ctx, r.Client, tws)
	}
	return obs, err
}
