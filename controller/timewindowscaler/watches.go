package timewindowscaler

import (
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetindex"
)

// Names of cache indexes that this controller alone uses.
const (
	holidayIndex    = "kyklos.holidaySource"
	autoscalerIndex = "kyklos.scaleTarget"
)

func indexHolidaySource(obj client.Object) []string {
	if name := schedule.HolidaySource(&obj.(*v1beta1.TimeWindowScaler).Spec); name != "" {
		return []string{name}
	}
	return nil
}

func indexScaleTarget(obj client.Object) []string { return []string{scaleTarget(obj)} }

// scalersBy returns a function that finds the scalers whose index holds name(object).
func (r *Reconciler) scalersBy(index string, name func(client.Object) string) func(context.Context, client.Object) []reconcile.Request {
	return func(ctx context.Context, obj client.Object) []reconcile.Request {
		var found v1beta1.TimeWindowScalerList
		err := r.Client.List(ctx, &found, client.InNamespace(obj.GetNamespace()), client.MatchingFields{index: name(obj)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			log.FromContext(ctx).Error(err, "Cannot tell which scalers an object concerns", "object", client.ObjectKeyFromObject(obj))
			return nil
		}
		requests := make([]reconcile.Request, 0, len(found.Items))
		for i := range found.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
		}
		return requests
	}
}

// rivals finds the other scalers of a scaler's target: whoever leaves it makes room for the next.
func (r *Reconciler) rivals(ctx context.Context, obj client.Object) []reconcile.Request {
	target := func(o client.Object) string { return o.(*v1beta1.TimeWindowScaler).Spec.TargetRef.Name }
	var others []reconcile.Request
	for _, request := range r.scalersBy(targetindex.Field, target)(ctx, obj) {
		if request.NamespacedName != client.ObjectKeyFromObject(obj) {
			others = append(others, request)
		}
	}
	return others
}

func objectName(obj client.Object) string { return obj.GetName() }

func scaleTarget(obj client.Object) string {
	return obj.(*autoscalingv2.HorizontalPodAutoscaler).Spec.ScaleTargetRef.Name
}

// replicasChanged lets through what can mean drift, arrival, loss or return of a target.
var replicasChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*appsv1.Deployment), e.ObjectNew.(*appsv1.Deployment)
	return !ptr.Equal(before.Spec.Replicas, after.Spec.Replicas) || before.Status.Replicas != after.Status.Replicas ||
		before.UID != after.UID || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
}}

var keysChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return !maps.Equal(e.ObjectOld.(*corev1.ConfigMap).Data, e.ObjectNew.(*corev1.ConfigMap).Data)
}}

// ownershipChanged lets through what can change who owns a target.
var ownershipChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta1.TimeWindowScaler), e.ObjectNew.(*v1beta1.TimeWindowScaler)
		return before.Spec.TargetRef != after.Spec.TargetRef || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil)
	},
}

var scaleTargetChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*autoscalingv2.HorizontalPodAutoscaler), e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
		return before.Spec.ScaleTargetRef != after.Spec.ScaleTargetRef
	},
	DeleteFunc: func(event.DeleteEvent) bool { return false },
}

// all returns every scaler that is watched.
func (r *Reconciler) all(ctx context.Context) ([]types.NamespacedName, error) {
	var scalers v1beta1.TimeWindowScalerList
	if err := r.Client.List(ctx, &scalers, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	keys := make([]types.NamespacedName, len(scalers.Items))
	for i := range scalers.Items {
		keys[i] = client.ObjectKeyFromObject(&scalers.Items[i])
	}
	return keys, nil
}
