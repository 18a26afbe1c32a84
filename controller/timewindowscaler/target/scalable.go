package target

import (
	"context"
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// All other kinds with a scale subresource. Their objects are watched by metadata, and each change of one
// costs one GET of its scale; while nothing changes there are no requests (B3, B9).

// Scalable is a target of which only the scale is known.
type Scalable struct {
	Replicated
	// unset: the spec has no count, and its own controller takes some default.
	unset bool
}

// AsksFor implements Target. An unset count is always written.
func (s *Scalable) AsksFor(want Desired) bool { return !s.unset && s.Replicated.AsksFor(want) }

// ManagedFields implements Target. The count of a custom resource may be anywhere in its spec.
func (s *Scalable) ManagedFields() [][]string {
	fields := s.Replicated.ManagedFields()
	if !s.unset {
		fields = append(fields, []string{"f:spec"})
	}
	return fields
}

type scalable struct {
	counted
	gvk schema.GroupVersionKind
}

func (k scalable) Read(ctx context.Context, c *Clients, key types.NamespacedName, memory *Memory) (Target, error) {
	return readWatched(ctx, c, k.gvk, key, memory, []string{"scale"}, func(object *metav1.PartialObjectMetadata, scale *unstructured.Unstructured, err error) (Target, error) {
		if isUnset(err) {
			return &Scalable{Replicated{Common{UID: object.UID, ResourceVersion: object.ResourceVersion, Spec: 1}}, true}, nil
		}
		if err != nil {
			return nil, err
		}
		return fromScale(scale)
	})
}

func (k scalable) Write(ctx context.Context, c *Clients, key types.NamespacedName, seen Target, want Desired) (Target, error) {
	scale, err := patchWatched(ctx, c, k.gvk, key, seen, map[string]any{"replicas": want.Replicas}, FieldManager, "scale")
	if err != nil {
		return nil, err
	}
	return fromScale(scale)
}

// fromScale returns the target of a scale, which has the identity of its object.
func fromScale(object *unstructured.Unstructured) (Target, error) {
	var scale autoscalingv1.Scale
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &scale); err != nil {
		return nil, fmt.Errorf("read the scale of %s: %w", object.GetName(), err)
	}
	return &Scalable{Replicated: Replicated{Common{
		UID: scale.UID, ResourceVersion: scale.ResourceVersion,
		Spec: scale.Spec.Replicas, Observed: scale.Status.Replicas, Ready: scale.Status.Replicas,
	}}}, nil
}

// isUnset reports that a scale cannot be read because its object's spec has no count. That is how the API
// server answers for custom resources (apiextensions-apiserver, ScaleREST.Get); a write sets the count.
func isUnset(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "the spec replicas field") && strings.Contains(err.Error(), "does not exist")
}
