package orphan

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/internal/targetkind"
)

// suspended reports whether the DaemonSet has the key that Kyklos suspends it with; marked, whether it has the annotation.
func suspended(d *appsv1.DaemonSet) bool {
	return d.Spec.Template.Spec.NodeSelector[targetkind.SuspendKey] == targetkind.SuspendValue
}

func marked(d *appsv1.DaemonSet) bool {
	return d.Annotations[targetkind.DeletionPolicyAnnotation] == string(v1beta1.DeletionResume)
}

// observe reads the scaler of a DaemonSet.
func (r *Reconciler) observe(ctx context.Context, d *appsv1.DaemonSet) (observation, error) {
	o := observation{now: r.Clock.Now(), suspended: suspended(d), marked: marked(d)}
	var err error
	o.scaler, err = contention.OwnerOf(ctx, r.Client, d.Namespace, referenceTo(d.Name))
	return o, err
}

// referenceTo names a DaemonSet as a target.
func referenceTo(name string) v1beta1.TargetRef {
	apiVersion, kind := targetkind.DaemonSet.ToAPIVersionAndKind()
	return v1beta1.TargetRef{APIVersion: apiVersion, Kind: kind, Name: name}
}
