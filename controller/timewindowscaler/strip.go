package timewindowscaler

import (
	"slices"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/undecodable"
)

// stripScaler reduces a scaler to what passes and webhooks read, to save memory in the cache. Texts that many scalers
// have in common, such as days, times and messages, are stored once.
func stripScaler(obj any) (any, error) {
	tws, ok := obj.(*v1beta1.TimeWindowScaler)
	if !ok {
		return obj, nil
	}
	kept := targetkind.Identity(&tws.ObjectMeta)
	kept.Generation, kept.CreationTimestamp = tws.Generation, tws.CreationTimestamp
	kept.Annotations = undecodable.Marks(tws)
	if tws.DeletionTimestamp != nil {
		kept.Finalizers = tws.Finalizers // the status names them
	}
	tws.TypeMeta, tws.ObjectMeta = metav1.TypeMeta{}, kept
	shareSpec(&tws.Spec)
	shareStatus(&tws.Status)
	return tws, nil
}

func shareSpec(spec *v1beta1.TimeWindowScalerSpec) {
	share(&spec.TargetRef.APIVersion, &spec.TargetRef.Kind, &spec.TargetRef.Namespace, &spec.Timezone)
	share(&spec.DeletionPolicy)
	share(&spec.DriftPolicy)
	spec.Windows = slices.Clone(spec.Windows) // a decoder leaves room for more
	for i := range spec.Windows {
		window := &spec.Windows[i]
		window.Days = slices.Clone(window.Days)
		for day := range window.Days {
			share(&window.Days[day])
		}
		share(&window.Name, &window.Start, &window.End, &window.Timezone)
	}
}

func shareStatus(status *v1beta1.TimeWindowScalerStatus) {
	share(&status.CurrentWindow, &status.Holiday)
	if status.Applied != nil {
		share(&status.Applied.State)
		if status.Applied.TargetUID == status.TargetUID {
			status.Applied.TargetUID = status.TargetUID
		}
	}
	status.Conditions = slices.Clone(status.Conditions)
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		share(&condition.Type, &condition.Reason, &condition.Message)
		share(&condition.Status)
	}
}

// share replaces texts by equal ones that are already in use.
func share[T ~string](texts ...*T) {
	for _, text := range texts {
		*text = unique.Make(*text).Value()
	}
}
