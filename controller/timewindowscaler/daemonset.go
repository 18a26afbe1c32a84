package timewindowscaler

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SuspendKey is the key in a DaemonSet's template.spec.nodeSelector, with the value "true", by which
// Kyklos suspends it: no node has this label, so no node runs its pods (A6). It is public contract.
const SuspendKey = "kyklos.io/suspended"

const suspendValue = "true"

// daemons is what matters of a DaemonSet beyond any other target.
type daemons struct {
	// suspended: the key is there with our value; free: it is not there at all. Neither is a key
	// with another value, which no count asks for.
	suspended, free bool
	// arrived: what the spec as it is now asks for is so on every node.
	arrived bool
	// missing is on how many nodes it is not.
	missing int32
}

// asksFor: 0 suspends, and any other count lets the DaemonSet run.
func (d *daemons) asksFor(replicas int32) bool {
	if replicas == 0 {
		return d.suspended
	}
	return d.free
}

// daemonTarget takes from a DaemonSet what matters. Its count is of the nodes with a pod, be it on a
// node that should have none.
func daemonTarget(d *appsv1.DaemonSet) *target {
	value, there := d.Spec.Template.Spec.NodeSelector[SuspendKey]
	status := &d.Status
	found := &daemons{suspended: value == suspendValue, free: !there}
	// A node that may keep a pod it would not get anew counts as misscheduled for good, so while the
	// DaemonSet runs only the nodes that should have a pod count.
	found.missing = max(status.DesiredNumberScheduled-status.CurrentNumberScheduled, 0)
	observed := status.CurrentNumberScheduled + status.NumberMisscheduled
	if there {
		found.missing = observed
	}
	// A status about an older spec says nothing about this one.
	found.arrived = found.missing == 0 && status.ObservedGeneration >= d.Generation
	t := &target{uid: d.UID, resourceVersion: d.ResourceVersion, observedReplicas: observed, daemons: found}
	if !found.suspended {
		t.specReplicas = max(status.DesiredNumberScheduled, 1)
	}
	return t
}

// daemonSets deals with DaemonSets.
type daemonSets struct{ r *Reconciler }

func (w daemonSets) read(ctx context.Context, key types.NamespacedName, mem *recollection) (*target, error) {
	return w.r.readCached(ctx, key, &appsv1.DaemonSet{}, mem)
}

// write adds our key or takes it away, and touches nothing else.
func (w daemonSets) write(ctx context.Context, key types.NamespacedName, seen *target, replicas int32) (*target, error) {
	patch, err := suspendPatch(seen.resourceVersion, replicas == 0)
	if err != nil {
		return nil, err
	}
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := w.r.Client.Patch(ctx, d, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager)); err != nil {
		return nil, err
	}
	return daemonTarget(d), nil
}

// suspendPatch is a merge patch, in which null takes a key away. The API server stores no empty
// nodeSelector.
func suspendPatch(resourceVersion string, suspend bool) ([]byte, error) {
	selector := map[string]any{SuspendKey: nil}
	if suspend {
		selector[SuspendKey] = suspendValue
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": resourceVersion},
		"spec":     map[string]any{"template": map[string]any{"spec": map[string]any{"nodeSelector": selector}}},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return patch, nil
}

func stripDaemonSet(obj any) (any, error) {
	d, ok := obj.(*appsv1.DaemonSet)
	if !ok {
		return obj, nil
	}
	stripped := &appsv1.DaemonSet{
		ObjectMeta: identity(&d.ObjectMeta),
		Status: appsv1.DaemonSetStatus{
			ObservedGeneration:     d.Status.ObservedGeneration,
			DesiredNumberScheduled: d.Status.DesiredNumberScheduled,
			CurrentNumberScheduled: d.Status.CurrentNumberScheduled,
			NumberMisscheduled:     d.Status.NumberMisscheduled,
		},
	}
	stripped.Generation = d.Generation
	if value, there := d.Spec.Template.Spec.NodeSelector[SuspendKey]; there {
		stripped.Spec.Template.Spec = corev1.PodSpec{NodeSelector: map[string]string{SuspendKey: value}}
	}
	return stripped, nil
}
