package timewindowscaler

import (
	"context"
	"reflect"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// holidayIndex is the cache's index of TimeWindowScalers by the ConfigMap with their holidays.
const holidayIndex = "kyklos.holidaySource"

func indexHolidaySource(obj client.Object) []string {
	if name := schedule.HolidaySource(&obj.(*v1beta1.TimeWindowScaler).Spec); name != "" {
		return []string{name}
	}
	return nil
}

// reconcileAll turns a function that finds scalers into an event handler.
func reconcileAll(find func(context.Context, client.Object) []types.NamespacedName) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, key := range find(ctx, obj) {
			requests = append(requests, reconcile.Request{NamespacedName: key})
		}
		return requests
	})
}

// find returns the scalers that match and for which use, unless nil, is true.
func (r *Reconciler) find(ctx context.Context, use func(*v1beta1.TimeWindowScaler) bool, match ...client.ListOption) []types.NamespacedName {
	var scalers v1beta1.TimeWindowScalerList
	if err := r.Client.List(ctx, &scalers, append(match, client.UnsafeDisableDeepCopy)...); err != nil {
		log.FromContext(ctx).Error(err, "Cannot list the scalers that a change concerns")
		return nil
	}
	var keys []types.NamespacedName
	for i := range scalers.Items {
		if use == nil || use(&scalers.Items[i]) {
			keys = append(keys, client.ObjectKeyFromObject(&scalers.Items[i]))
		}
	}
	return keys
}

// scalersOf finds the scalers of a target.
func (r *Reconciler) scalersOf(ctx context.Context, kind schema.GroupKind, target types.NamespacedName) []types.NamespacedName {
	return r.find(ctx, scalesKind(kind), client.InNamespace(target.Namespace), client.MatchingFields{targetkind.NameField: target.Name})
}

func scalesKind(kind schema.GroupKind) func(*v1beta1.TimeWindowScaler) bool {
	return func(tws *v1beta1.TimeWindowScaler) bool { return targetkind.Of(tws.Spec.TargetRef).GroupKind() == kind }
}

// rivals finds the other scalers of a scaler's target: if it leaves the target, the next one owns it.
func (r *Reconciler) rivals(ctx context.Context, obj client.Object) []types.NamespacedName {
	tws := obj.(*v1beta1.TimeWindowScaler)
	another := func(other *v1beta1.TimeWindowScaler) bool { return other.Name != tws.Name }
	return r.find(ctx, another, client.InNamespace(tws.Namespace), client.MatchingFields{targetkind.NameField: tws.Spec.TargetRef.Name})
}

// holidayUsers finds the scalers whose holidays are in a ConfigMap.
func (r *Reconciler) holidayUsers(ctx context.Context, source types.NamespacedName) []types.NamespacedName {
	return r.find(ctx, nil, client.InNamespace(source.Namespace), client.MatchingFields{holidayIndex: source.Name})
}

// autoscaled finds the scalers of what an HPA scales.
func (r *Reconciler) autoscaled(ctx context.Context, obj client.Object) []types.NamespacedName {
	return r.find(ctx, nil, client.InNamespace(obj.GetNamespace()), client.MatchingFields{targetkind.NameField: contention.ScaleTarget(obj)})
}

// scalerChanged passes changes of the spec, whatever the generation: the API server computes that from what the version of
// the request shows. Only Kyklos writes the status; but after etcd was restored from a backup, an older one is back, with
// an older resourceVersion. The status of one that is being deleted names its finalizers.
var scalerChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*v1beta1.TimeWindowScaler), e.ObjectNew.(*v1beta1.TimeWindowScaler)
	versions, err := resourceversion.CompareResourceVersion(after.ResourceVersion, before.ResourceVersion)
	finalizers := after.DeletionTimestamp != nil && !slices.Equal(before.Finalizers, after.Finalizers)
	return before.Generation != after.Generation || !apiequality.Semantic.DeepEqual(before.Spec, after.Spec) || err == nil && versions < 0 || finalizers
}}

// targetChanged passes changes that can mean drift, arrival, loss or return of a target.
func targetChanged(kind target.Cached) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := kind.FromObject(e.ObjectOld), kind.FromObject(e.ObjectNew)
		before.Base().ResourceVersion, before.Base().Ready = after.Base().ResourceVersion, after.Base().Ready
		return !reflect.DeepEqual(before, after) ||
			(e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	}}
}

// ownershipChanged passes changes that can affect the ownership of a target.
var ownershipChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*v1beta1.TimeWindowScaler), e.ObjectNew.(*v1beta1.TimeWindowScaler)
	return before.Spec.TargetRef != after.Spec.TargetRef || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
}}
