package timewindowscaler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// target is what matters of the workload.
type target struct {
	uid             types.UID
	resourceVersion string
	// specReplicas is what the spec asks for; of a DaemonSet, 0 if it is suspended and more if not.
	specReplicas     int32
	observedReplicas int32
	// readyReplicas counts for metrics of type Value only, and is no reason for a pass of its own. Where
	// only the scale is known, all that there are count as ready.
	readyReplicas int32
	// unset: the spec asks for no count at all, which its own controller takes as some default.
	unset bool
	// daemons is set for a DaemonSet, session for a Workspace: they have no replicas.
	daemons *daemons
	session *session
}

// asksFor reports whether the target's spec is as the replicas want it; if not, it has to be written.
func (t *target) asksFor(replicas int32) bool {
	if t.daemons != nil {
		return t.daemons.asksFor(replicas)
	}
	if t.session != nil {
		return t.session.asksFor(replicas)
	}
	return !t.unset && t.specReplicas == replicas
}

// has reports whether the target was seen with the replicas, whatever its spec asks for (B4).
func (t *target) has(replicas int32) bool {
	if t.daemons != nil {
		return t.daemons.asksFor(replicas) && t.daemons.arrived
	}
	if t.session != nil {
		return t.session.asksFor(replicas) && t.session.settled
	}
	return t.observedReplicas == replicas
}

// distance is how far the target is from having the replicas, 0 or more.
func (t *target) distance(replicas int32) int32 {
	if t.daemons != nil && t.daemons.asksFor(replicas) {
		return t.daemons.missing
	}
	if t.session != nil {
		replicas = min(replicas, 1)
	}
	apart := t.observedReplicas - replicas
	return max(apart, -apart)
}

// workload reads and writes the targets of one kind.
type workload interface {
	// read returns the target, or nil if there is none or it is being deleted.
	read(ctx context.Context, key types.NamespacedName, mem *recollection) (*target, error)
	// write makes the target that was seen ask for the replicas, by one PATCH with the
	// resourceVersion seen, and returns it as the API server stored it (B9).
	write(ctx context.Context, key types.NamespacedName, seen *target, replicas int32) (*target, error)
}

// workloadOf returns who deals with the kind that ref names. An error that isObstacle says why nobody
// can.
func (r *Reconciler) workloadOf(ctx context.Context, ref v1beta1.TargetRef) (workload, error) {
	switch targetkind.Of(ref) {
	case targetkind.Deployment.GroupVersionKind:
		return replicated{r, &appsv1.Deployment{}}, nil
	case targetkind.StatefulSet.GroupVersionKind:
		return replicated{r, &appsv1.StatefulSet{}}, nil
	case targetkind.DaemonSet.GroupVersionKind:
		return daemonSets{r}, nil
	}
	kind, watched := r.watches.kind(targetkind.Of(ref))
	if !watched {
		var err error
		if kind, err = r.Kinds.Resolve(ctx, ref); err != nil {
			return nil, err
		}
	}
	if kind == targetkind.Workspace {
		return workspaces{scalables{r, kind}}, nil
	}
	return scalables{r, kind}, nil
}

// isObstacle reports that the target's kind, and not the passing state of the world, is why nothing
// can be done about the target.
func isObstacle(err error) bool {
	var unknown *targetkind.UnknownError
	var unscalable *targetkind.NotScalableError
	var forbidden *targetkind.ForbiddenError
	return errors.As(err, &unknown) || errors.As(err, &unscalable) || errors.As(err, &forbidden)
}

// replicated deals with a kind that is cached and has the scale subresource.
type replicated struct {
	r *Reconciler
	// kind is an empty object.
	kind client.Object
}

func (w replicated) read(ctx context.Context, key types.NamespacedName, mem *recollection) (*target, error) {
	return w.r.readCached(ctx, key, w.kind, mem)
}

func (w replicated) write(ctx context.Context, key types.NamespacedName, seen *target, replicas int32) (*target, error) {
	patch, err := scalePatch(seen.resourceVersion, replicas)
	if err != nil {
		return nil, err
	}
	object := w.kind.DeepCopyObject().(client.Object)
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	scale := &autoscalingv1.Scale{}
	err = w.r.Client.SubResource("scale").Patch(ctx, object, client.RawPatch(types.MergePatchType, patch),
		client.WithSubResourceBody(scale), client.FieldOwner(FieldManager))
	if err != nil {
		return nil, err
	}
	return &target{
		uid:              seen.uid,
		resourceVersion:  scale.ResourceVersion,
		specReplicas:     scale.Spec.Replicas,
		observedReplicas: scale.Status.Replicas,
		readyReplicas:    seen.readyReplicas, // Scale does not tell
	}, nil
}

// scalePatch changes a scale subresource only if its object still has the resourceVersion.
func scalePatch(resourceVersion string, replicas int32) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": resourceVersion},
		"spec":     map[string]any{"replicas": replicas},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return patch, nil
}

// readCached reads a target of a built-in kind, from the cache unless the last pass found it stale.
func (r *Reconciler) readCached(ctx context.Context, key types.NamespacedName, kind client.Object, mem *recollection) (*target, error) {
	object := kind.DeepCopyObject().(client.Object)
	if err := r.reader(mem).Get(ctx, key, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return mem.newerTarget(glance(object)), nil
}

// glance takes from an object of a built-in kind what matters.
func glance(object client.Object) *target {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return counted(&o.ObjectMeta, o.Spec.Replicas, o.Status.Replicas, o.Status.ReadyReplicas)
	case *appsv1.StatefulSet:
		return counted(&o.ObjectMeta, o.Spec.Replicas, o.Status.Replicas, o.Status.ReadyReplicas)
	case *appsv1.DaemonSet:
		return daemonTarget(o)
	default:
		panic(fmt.Sprintf("%T is no built-in kind of target", object))
	}
}

func counted(m *metav1.ObjectMeta, spec *int32, observed, ready int32) *target {
	return &target{
		uid: m.UID, resourceVersion: m.ResourceVersion,
		specReplicas: ptr.Deref(spec, 1), observedReplicas: observed, readyReplicas: ready,
	}
}
