package timewindowscaler

import (
	"context"
	"maps"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetindex"
	"kyklos.io/kyklos/internal/timecalc"
)

// observation is what the world looked like in this pass.
type observation struct {
	target *target // nil if it does not exist
	// obstacle is why the target's kind can be no target, or not be read; see isObstacle.
	obstacle error
	// workload writes the target; nil if it has an obstacle.
	workload workload
	// owner is the name of an older scaler of the same target, "" if the target is ours (B8).
	owner string
	// autoscaler is the name of an HPA on the same target, "" if there is none.
	autoscaler string
	holidays   holidays
	metric     metricObservation
	fight      fightObservation
}

// holidays is what the ConfigMap says; all zero if the mode does not ask for one.
type holidays struct {
	missing string // the ConfigMap's name if it does not exist
	dates   map[string]bool
	invalid []string // keys that are no dates
}

// observe reads all that a plan depends on, from the cache unless the last pass found it stale.
func (r *Reconciler) observe(ctx context.Context, tws *v1beta1.TimeWindowScaler, mem *recollection) (observation, error) {
	var obs observation
	var err error
	if err = r.observeTarget(ctx, tws, mem, &obs); err != nil {
		return obs, err
	}
	if obs.holidays, err = r.observeHolidays(ctx, tws); err != nil {
		return obs, err
	}
	if obs.owner, err = r.observeOwner(ctx, tws); err != nil {
		return obs, err
	}
	obs.autoscaler, err = r.observeAutoscaler(ctx, tws)
	return obs, err
}

func (r *Reconciler) observeTarget(ctx context.Context, tws *v1beta1.TimeWindowScaler, mem *recollection, obs *observation) error {
	var err error
	if obs.workload, err = r.workloadOf(ctx, tws.Spec.TargetRef); err == nil {
		key := types.NamespacedName{Namespace: tws.Namespace, Name: tws.Spec.TargetRef.Name}
		obs.target, err = obs.workload.read(ctx, key, mem)
	}
	if isObstacle(err) {
		obs.obstacle = err
		return nil
	}
	return err
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

// observeOwner returns the name of the scaler that owns the target if that is another one: the
// older object, then the smaller UID (B8). Admission races, so this decides.
func (r *Reconciler) observeOwner(ctx context.Context, tws *v1beta1.TimeWindowScaler) (string, error) {
	var rivals v1beta1.TimeWindowScalerList
	err := r.Client.List(ctx, &rivals, client.InNamespace(tws.Namespace),
		client.MatchingFields{targetindex.Field: tws.Spec.TargetRef.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return "", err
	}
	owner := tws
	for i := range rivals.Items {
		if rival := &rivals.Items[i]; rival.DeletionTimestamp == nil && targetindex.SameTarget(rival.Spec.TargetRef, owner.Spec.TargetRef) && targetindex.Precedes(rival, owner) {
			owner = rival
		}
	}
	if owner.UID == tws.UID {
		return "", nil
	}
	return owner.Name, nil
}

func (r *Reconciler) observeAutoscaler(ctx context.Context, tws *v1beta1.TimeWindowScaler) (string, error) {
	var autoscalers autoscalingv2.HorizontalPodAutoscalerList
	err := r.Client.List(ctx, &autoscalers, client.InNamespace(tws.Namespace),
		client.MatchingFields{autoscalerIndex: tws.Spec.TargetRef.Name}, client.UnsafeDisableDeepCopy)
	for i := range autoscalers.Items {
		if targetindex.ScaledBy(&autoscalers.Items[i], tws.Spec.TargetRef) {
			return autoscalers.Items[i].Name, nil
		}
	}
	return "", err
}
