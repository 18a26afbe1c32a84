package target

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Deployments and StatefulSets: cached, and written by their scale subresource.

// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments/scale;statefulsets/scale,verbs=patch

// Replicated is a target with a replica count.
type Replicated struct{ Common }

// AsksFor implements Target.
func (r *Replicated) AsksFor(want Desired) bool { return r.Spec == want.Replicas }

// Has implements Target.
func (r *Replicated) Has(want Desired) bool { return r.Observed == want.Replicas }

// Distance implements Target.
func (r *Replicated) Distance(want Desired, arrived bool) int32 {
	if arrived {
		return max(want.Replicas-r.Observed, 0)
	}
	return apart(r.Observed, want.Replicas)
}

func apart(a, b int32) int32 { return max(a-b, b-a) }

// Describe implements Target.
func (r *Replicated) Describe(want Desired) Description {
	up, direction := want.Replicas >= r.Spec, "up"
	if !up {
		direction = "down"
	}
	return Description{
		Reached:   fmt.Sprintf("has the desired %d replicas", want.Replicas),
		Pending:   fmt.Sprintf("does not have the desired %d replicas yet", want.Replicas),
		Replacing: fmt.Sprintf("is set to the desired %d replicas, and its own controller is replacing pods", want.Replicas),
		Stays:     fmt.Sprintf("stays at %d replicas", r.Spec),
		Now:       fmt.Sprintf("has %d replicas", r.Observed),
		Changing:  fmt.Sprintf("Scaling the target to %d replicas", want.Replicas),
		Changed:   fmt.Sprintf("scaled %s from %d to %d replicas", direction, r.Spec, want.Replicas),
		Action:    fmt.Sprintf("ScaleFrom%dTo%d", r.Spec, want.Replicas),
		Up:        up,
		Current:   strconv.Itoa(int(r.Spec)),
		Desired:   strconv.Itoa(int(want.Replicas)),
	}
}

// ManagedFields implements Target.
func (r *Replicated) ManagedFields() [][]string { return [][]string{{"f:spec", "f:replicas"}} }

// counted is embedded by kinds with a replica count.
type counted struct{ heldToCount }

func (counted) GraceMessages(delayed, kept Desired) (before, instead string) {
	return fmt.Sprintf("scaling to %d replicas", delayed.Replicas), fmt.Sprintf("%d replicas are desired again", kept.Replicas)
}

type deployments struct{ counted }

func (deployments) Object() client.Object { return &appsv1.Deployment{} }

func (k deployments) Write(ctx context.Context, c *Clients, key types.NamespacedName, seen Target, want Desired) (Target, error) {
	return writeScale(ctx, c, k.Object(), key, seen, want)
}

func (deployments) FromObject(object client.Object) Target {
	return countsFrom(object).target()
}

func (deployments) Strip(obj any) (any, error) {
	if d, ok := obj.(*appsv1.Deployment); ok {
		return countsFrom(d), nil
	}
	return obj, nil
}

type statefulSets struct{ counted }

func (statefulSets) Object() client.Object { return &appsv1.StatefulSet{} }

func (k statefulSets) Write(ctx context.Context, c *Clients, key types.NamespacedName, seen Target, want Desired) (Target, error) {
	return writeScale(ctx, c, k.Object(), key, seen, want)
}

func (statefulSets) FromObject(object client.Object) Target {
	return countsFrom(object).target()
}

func (statefulSets) Strip(obj any) (any, error) {
	if s, ok := obj.(*appsv1.StatefulSet); ok {
		return countsFrom(s), nil
	}
	return obj, nil
}

// writeScale patches the scale subresource of an object of the given kind.
func writeScale(ctx context.Context, c *Clients, object client.Object, key types.NamespacedName, seen Target, want Desired) (Target, error) {
	patch, err := mergePatch(seen.Base().ResourceVersion, nil, map[string]any{"replicas": want.Replicas})
	if err != nil {
		return nil, err
	}
	object.SetNamespace(key.Namespace)
	object.SetName(key.Name)
	scale := &autoscalingv1.Scale{}
	err = c.Client.SubResource("scale").Patch(ctx, object, client.RawPatch(types.MergePatchType, patch),
		client.WithSubResourceBody(scale), client.FieldOwner(FieldManager))
	if err != nil {
		return nil, err
	}
	return &Replicated{Common{
		UID: seen.Base().UID, ResourceVersion: scale.ResourceVersion, Spec: scale.Spec.Replicas, Observed: scale.Status.Replicas,
		Ready: seen.Base().Ready, // a Scale has no ready count
	}}, nil
}
