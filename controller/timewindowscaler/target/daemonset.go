package target

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/targetkind"
)

// DaemonSets have no replica count. 0 suspends one by a node selector that no node matches; any other count
// lets it run.

// +kubebuilder:rbac:groups=apps,resources=daemonsets,verbs=get;list;watch;patch

// DaemonSet is a target that runs on all its nodes or on none.
type DaemonSet struct {
	Common
	// suspended: the key is there with our value; free: it is not there at all. Neither is a key
	// with another value, which no count asks for.
	suspended, free bool
	// arrived: every node is as the current spec asks. missing is how many are not.
	arrived bool
	missing int32
}

// AsksFor implements Target.
func (d *DaemonSet) AsksFor(want Desired) bool {
	if want.Replicas == 0 {
		return d.suspended
	}
	return d.free
}

// Has implements Target.
func (d *DaemonSet) Has(want Desired) bool { return d.AsksFor(want) && d.arrived }

// Distance implements Target.
func (d *DaemonSet) Distance(want Desired, _ bool) int32 {
	if d.AsksFor(want) {
		return d.missing
	}
	return apart(d.Observed, want.Replicas)
}

// Describe implements Target.
func (d *DaemonSet) Describe(want Desired) Description {
	desired := Description{Desired: "running", Changing: "Resuming the target", Changed: "DaemonSet resumed", Action: "Resume", Up: true}
	if want.Replicas == 0 {
		desired = Description{Desired: "suspended", Changing: "Suspending the target", Changed: "DaemonSet suspended", Action: "Suspend"}
	}
	desired.Reached, desired.Pending = "is "+desired.Desired+" as desired", "is not "+desired.Desired+" yet"
	desired.Replacing = "is set to be " + desired.Desired + " as desired, and its own controller is replacing pods"
	desired.Stays = "keeps running"
	if d.suspended {
		desired.Stays = "stays suspended"
	}
	desired.Current = d.state()
	desired.Now = "is " + desired.Current
	return desired
}

func (d *DaemonSet) state() string {
	switch {
	case d.free && d.arrived:
		return "running"
	case d.free:
		return "starting"
	case d.Observed > 0:
		return "being suspended"
	default:
		return "suspended"
	}
}

// ManagedFields implements Target.
func (d *DaemonSet) ManagedFields() [][]string {
	return [][]string{{"f:spec", "f:template", "f:spec", "f:nodeSelector", "f:" + targetkind.SuspendKey}}
}

type daemonSets struct{ heldToCount }

func (daemonSets) Object() client.Object { return &appsv1.DaemonSet{} }

// Write adds our key or removes it, and touches nothing else.
func (k daemonSets) Write(ctx context.Context, c *Clients, key types.NamespacedName, seen Target, want Desired) (Target, error) {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: seen.Base().ResourceVersion}}
	written, err := PatchDaemonSet(ctx, c.Client, d, nil, SuspendSpec(want.Replicas == 0))
	if err != nil {
		return nil, err
	}
	return k.FromObject(written), nil
}

// SuspendSpec is the spec of a merge patch that adds our key or removes it. The API server stores no empty nodeSelector.
func SuspendSpec(suspend bool) map[string]any {
	selector := map[string]any{targetkind.SuspendKey: nil}
	if suspend {
		selector[targetkind.SuspendKey] = targetkind.SuspendValue
	}
	return map[string]any{"template": map[string]any{"spec": map[string]any{"nodeSelector": selector}}}
}

// PatchDaemonSet changes annotations and the spec of a DaemonSet that is still as it was seen, and returns it as it was stored.
func PatchDaemonSet(ctx context.Context, c client.Client, seen *appsv1.DaemonSet, annotations, spec map[string]any) (*appsv1.DaemonSet, error) {
	patch, err := mergePatch(seen.ResourceVersion, annotations, spec)
	if err != nil {
		return nil, err
	}
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: seen.Namespace, Name: seen.Name}}
	return d, c.Patch(ctx, d, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager))
}

// FromObject counts the nodes with a pod, including nodes that should have none.
func (daemonSets) FromObject(object client.Object) Target {
	d := object.(*appsv1.DaemonSet)
	value, there := d.Spec.Template.Spec.NodeSelector[targetkind.SuspendKey]
	status := &d.Status
	t := &DaemonSet{
		Common: Common{UID: d.UID, ResourceVersion: d.ResourceVersion, Observed: status.CurrentNumberScheduled + status.NumberMisscheduled},
		// A node that keeps a pod it would not get again counts as misscheduled permanently, so while the
		// DaemonSet runs only the nodes that should have a pod count.
		missing:   max(status.DesiredNumberScheduled-status.CurrentNumberScheduled, 0),
		suspended: value == targetkind.SuspendValue, free: !there,
	}
	if there {
		t.missing = t.Observed
	}
	// A status about an older spec says nothing about this one.
	t.arrived = t.missing == 0 && status.ObservedGeneration >= d.Generation
	if !t.suspended {
		t.Spec = max(status.DesiredNumberScheduled, 1)
	}
	return t
}

func (daemonSets) Strip(obj any) (any, error) {
	d, ok := obj.(*appsv1.DaemonSet)
	if !ok {
		return obj, nil
	}
	stripped := &appsv1.DaemonSet{
		ObjectMeta: targetkind.Identity(&d.ObjectMeta),
		Status: appsv1.DaemonSetStatus{
			ObservedGeneration:     d.Status.ObservedGeneration,
			DesiredNumberScheduled: d.Status.DesiredNumberScheduled,
			CurrentNumberScheduled: d.Status.CurrentNumberScheduled,
			NumberMisscheduled:     d.Status.NumberMisscheduled,
		},
	}
	stripped.Generation = d.Generation
	if policy, there := d.Annotations[targetkind.DeletionPolicyAnnotation]; there {
		stripped.Annotations = map[string]string{targetkind.DeletionPolicyAnnotation: policy}
	}
	if value, there := d.Spec.Template.Spec.NodeSelector[targetkind.SuspendKey]; there {
		stripped.Spec.Template.Spec = corev1.PodSpec{NodeSelector: map[string]string{targetkind.SuspendKey: value}}
	}
	return stripped, nil
}

// GraceMessages leaves out a grace period before a lower count that is not 0: it changes nothing.
func (daemonSets) GraceMessages(delayed, _ Desired) (before, instead string) {
	if delayed.Replicas == 0 {
		before = "the DaemonSet is suspended"
	}
	return before, "the DaemonSet keeps running"
}
