package timewindowscaler

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// observation is all that a plan depends on but the scaler itself and the time.
type observation struct {
	target target.Target // nil if it does not exist
	// obstacle is why the target's kind cannot be a target, or not be read; see target.IsObstacle.
	obstacle error
	// owner is the name of an older scaler of the same target, "" if the target is ours (B8).
	owner string
	// autoscaler is the name of an HPA on the same target, "" if there is none.
	autoscaler string
	holidays   holidays
	metric     metricObservation
	fight      fightObservation
}

// holidays is what the ConfigMap contains; all zero if the mode needs none.
type holidays struct {
	missing string // the ConfigMap's name if it does not exist
	dates   map[string]bool
	invalid []string // keys that are not dates
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
		metric: metricObservation{sample: r.metrics.Sample(client.ObjectKeyFromObject(tws)), before: state.metric, tolerance: r.tolerance},
		fight:  fightObservation{before: state.fight, enforce: r.enforce},
	}
	var err error
	obs.target, err = target.Read(ctx, &r.Clients, tws.Namespace, tws.Spec.TargetRef, &state.target, now)
	if target.IsObstacle(err) {
		obs.obstacle, err = err, nil
	}
	if err != nil {
		return obs, err
	}
	if obs.holidays, err = r.observeHolidays(ctx, tws); err != nil {
		return obs, err
	}
	if obs.owner, err = contention.Owner(ctx, r.Client, tws); err != nil {
		return obs, err
	}
	obs.autoscaler, err = contention.Autoscaler(ctx, r.Client, tws)
	return obs, err
}

func (r *Reconciler) observeHolidays(ctx context.Context, tws *v1beta1.TimeWindowScaler) (holidays, error) {
	name := schedule.HolidaySource(&tws.Spec)
	if name == "" {
		return holidays{}, nil
	}
	var source corev1.ConfigMap
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: tws.Namespace, Name: name}, &source)
	if apierrors.IsNotFound(err) {
		return holidays{missing: name}, nil
	}
	dates, invalid := timecalc.ParseHolidayDates(slices.Collect(maps.Keys(source.Data)))
	return holidays{dates: dates, invalid: invalid}, err
}
