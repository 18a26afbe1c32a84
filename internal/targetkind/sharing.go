package targetkind

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// NameField is the index of TimeWindowScalers by the name of their target, for client.MatchingFields. It is
// a selectable field of the CRD too, so a read past the cache understands the same selector.
const NameField = "spec.targetRef.name"

// IndexName is the index function of NameField. It leaves out the kind, which SameTarget compares.
func IndexName(obj client.Object) []string {
	scaler, ok := obj.(*v1beta1.TimeWindowScaler)
	if !ok || scaler.Spec.TargetRef.Name == "" {
		return nil
	}
	return []string{scaler.Spec.TargetRef.Name}
}

// SameTarget reports whether a and b, of TimeWindowScalers in one namespace, name the same workload.
// An object is the same in each version of its group.
func SameTarget(a, b v1beta1.TargetRef) bool {
	return Of(a).GroupKind() == Of(b).GroupKind() && a.Name == b.Name
}

// ScaledBy reports whether an autoscaler scales the workload too.
func ScaledBy(autoscaler *autoscalingv2.HorizontalPodAutoscaler, ref v1beta1.TargetRef) bool {
	scaled := autoscaler.Spec.ScaleTargetRef
	return scaled.Name == ref.Name &&
		schema.FromAPIVersionAndKind(scaled.APIVersion, scaled.Kind).GroupKind() == Of(ref).GroupKind()
}

// Owner returns which of the scalers of one namespace owns the workload that ref names, nil if none scales it (B8).
func Owner(scalers []v1beta1.TimeWindowScaler, ref v1beta1.TargetRef) *v1beta1.TimeWindowScaler {
	var owner *v1beta1.TimeWindowScaler
	for i := range scalers {
		s := &scalers[i]
		if s.DeletionTimestamp == nil && SameTarget(s.Spec.TargetRef, ref) && (owner == nil || Precedes(s, owner)) {
			owner = s
		}
	}
	return owner
}

// Precedes reports whether a owns a target before b does: the older of the two, or with the same age
// (creation is recorded in whole seconds) the one with the smaller UID (B8).
func Precedes(a, b client.Object) bool {
	created, other := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if created.Equal(&other) {
		return a.GetUID() < b.GetUID()
	}
	return created.Before(&other)
}
