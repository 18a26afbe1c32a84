package orphan

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// suspended reports whether the DaemonSet has the key that Kyklos suspends it with; marked, whether it has the annotation.
func suspended(d *appsv1.DaemonSet) bool {
	return d.Spec.Template.Spec.NodeSelector[targetkind.SuspendKey] == targetkind.SuspendValue
}

func marked(d *appsv1.DaemonSet) bool {
	return d.Annotations[targetkind.DeletionPolicyAnnotation] == string(v1beta1.DeletionResume)
}

// observe reads the scalers of a DaemonSet.
func (r *Reconciler) observe(ctx context.Context, d *appsv1.DaemonSet) (observation, error) {
	o := observation{now: r.Clock.Now(), suspended: suspended(d), marked: marked(d)}
	var err error
	o.scaler, err = owner(ctx, r.Client, d)
	return o, err
}

// owner returns the scaler of the DaemonSet, or nil.
func owner(ctx context.Context, reader client.Reader, d *appsv1.DaemonSet) (oldest *v1beta1.TimeWindowScaler, err error) {
	var all v1beta1.TimeWindowScalerList
	if err := reader.List(ctx, &all, client.InNamespace(d.Namespace), client.MatchingFields{targetkind.NameField: d.Name}); err != nil {
		return nil, fmt.Errorf("list the TimeWindowScalers of DaemonSet %s: %w", d.Name, err)
	}
	for i := range all.Items {
		scaler := &all.Items[i]
		if scaler.DeletionTimestamp == nil && scales(scaler, d.Name) && (oldest == nil || targetkind.Precedes(scaler, oldest)) {
			oldest = scaler
		}
	}
	return oldest, nil
}

// scales reports whether the DaemonSet of that name is the scaler's target.
func scales(scaler *v1beta1.TimeWindowScaler, name string) bool {
	ref := scaler.Spec.TargetRef
	return ref.Name == name && targetkind.Of(ref).GroupKind() == targetkind.DaemonSet.GroupKind()
}
