// Package targetindex finds the TimeWindowScalers of one target and says which of them owns it, so
// that admission and the reconciler cannot disagree (B8).
package targetindex

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Field names the index over TimeWindowScalers, for client.MatchingFields. It is a selectable field
// of the CRD too, so a read past the cache understands the same selector.
const Field = "spec.targetRef.name"

// Values is the index function of Field: the name of the workload that a TimeWindowScaler scales.
// Kinds are not told apart here; SameTarget does that.
func Values(obj client.Object) []string {
	scaler, ok := obj.(*v1beta1.TimeWindowScaler)
	if !ok || scaler.Spec.TargetRef.Name == "" {
		return nil
	}
	return []string{scaler.Spec.TargetRef.Name}
}

// SameTarget reports whether a and b, of TimeWindowScalers in one namespace, name the same workload.
func SameTarget(a, b v1beta1.TargetRef) bool {
	return a.Kind == b.Kind && a.Name == b.Name
}

// ScaledBy reports whether an autoscaler scales the workload too.
func ScaledBy(autoscaler *autoscalingv2.HorizontalPodAutoscaler, ref v1beta1.TargetRef) bool {
	scaled := autoscaler.Spec.ScaleTargetRef
	return scaled.Name == ref.Name &&
		schema.FromAPIVersionAndKind(scaled.APIVersion, scaled.Kind).GroupKind() == schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
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
