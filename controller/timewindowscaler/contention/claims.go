package contention

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list;watch

// OwnerOf returns the scaler that owns a target, nil if none names it: the older object, then the smaller UID (B8).
// Admission races, so this decides. The scaler must not be changed.
func OwnerOf(ctx context.Context, reader client.Reader, namespace string, ref v1beta1.TargetRef) (*v1beta1.TimeWindowScaler, error) {
	var claims v1beta1.TimeWindowScalerList
	err := reader.List(ctx, &claims, client.InNamespace(namespace), client.MatchingFields{targetkind.NameField: ref.Name}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list the TimeWindowScalers of %s %s: %w", ref.Kind, ref.Name, err)
	}
	return targetkind.Owner(claims.Items, ref), nil
}

// Owner returns the name of the scaler that owns tws's target, "" if that is tws itself.
func Owner(ctx context.Context, reader client.Reader, tws *v1beta1.TimeWindowScaler) (string, error) {
	owner, err := OwnerOf(ctx, reader, tws.Namespace, tws.Spec.TargetRef)
	if err != nil || owner == nil || !targetkind.Precedes(owner, tws) { // the list may not have tws yet
		return "", err
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
