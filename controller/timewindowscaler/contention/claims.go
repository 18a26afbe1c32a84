package contention

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list;watch

// Owner returns the name of the scaler that owns the target, "" if that is tws itself: the older object,
// then the smaller UID (B8). Admission races, so this decides.
func Owner(ctx context.Context, reader client.Reader, tws *v1beta1.TimeWindowScaler) (string, error) {
	var others v1beta1.TimeWindowScalerList
	err := reader.List(ctx, &others, client.InNamespace(tws.Namespace),
		client.MatchingFields{targetkind.NameField: tws.Spec.TargetRef.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return "", err
	}
	owner := tws
	for i := range others.Items {
		if other := &others.Items[i]; other.DeletionTimestamp == nil && targetkind.SameTarget(other.Spec.TargetRef, owner.Spec.TargetRef) && targetkind.Precedes(other, owner) {
			owner = other
		}
	}
	if owner.UID == tws.UID {
		return "", nil
	}
	return owner.Name, nil
}

// AutoscalerIndex is the cache's index of HorizontalPodAutoscalers by the name of what they scale.
const AutoscalerIndex = "kyklos.scaleTarget"

// Autoscaler returns the name of an HPA on the same target, "" if there is none.
func Autoscaler(ctx context.Context, reader client.Reader, tws *v1beta1.TimeWindowScaler) (string, error) {
	var autoscalers autoscalingv2.HorizontalPodAutoscalerList
	err := reader.List(ctx, &autoscalers, client.InNamespace(tws.Namespace),
		client.MatchingFields{AutoscalerIndex: tws.Spec.TargetRef.Name}, client.UnsafeDisableDeepCopy)
	for i := range autoscalers.Items {
		if targetkind.ScaledBy(&autoscalers.Items[i], tws.Spec.TargetRef) {
			return autoscalers.Items[i].Name, nil
		}
	}
	return "", err
}

// ScaleTarget is the name of what an HPA scales.
func ScaleTarget(obj client.Object) string {
	return obj.(*autoscalingv2.HorizontalPodAutoscaler).Spec.ScaleTargetRef.Name
}

// ScaleTargetChanged passes new and deleted HPAs, and those with a changed target.
var ScaleTargetChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*autoscalingv2.HorizontalPodAutoscaler), e.ObjectNew.(*autoscalingv2.HorizontalPodAutoscaler)
		return before.Spec.ScaleTargetRef != after.Spec.ScaleTargetRef
	},
}

// StripAutoscaler keeps of an HPA only what it scales, to save memory in the cache.
func StripAutoscaler(obj any) (any, error) {
	a, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return obj, nil
	}
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: targetkind.Identity(&a.ObjectMeta),
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: a.Spec.ScaleTargetRef},
	}, nil
}
