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

func (k scalable) Path() (schema.GroupVersionKind, []string) { return k.gvk, []string{"scale"} }

func (k scalable) Fetched(metadata *metav1.PartialObjectMetadata, scale *unstructured.Unstructured, err error) (Target, error) {
	if isUnset(err) {
		return &Scalable{Replicated{Common{UID: metadata.UID, ResourceVersion: metadata.ResourceVersion, Spec: 1}}, true}, nil
	}
	if err != nil {
		return nil, err
	}
	var s autoscalingv1.Scale
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(scale.Object, &s); err != nil {
		return nil, fmt.Errorf("read the scale of %s: %w", scale.GetName(), err)
	}
	return &Scalable{Replicated: Replicated{Common{ // a scale has the identity of its object
		UID: s.UID, ResourceVersion: s.ResourceVersion, Spec: s.Spec.Replicas, Observed: s.Status.Replicas, Ready: s.Status.Replicas,
	}}}, nil
}

func (k scalable) Write(ctx context.Context, c *Clients, key types.NamespacedName, seen Target, want Desired) (Target, error) {
	return patchWatched(ctx, c, k, key, seen, map[string]any{"replicas": want.Replicas}, FieldManager)
}

// isUnset reports that a scale cannot be read because its object's spec has no count. That is how the API
// server answers for custom resources (apiextensions-apiserver, ScaleREST.Get); a write sets the count.
func isUnset(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "the spec replicas field") && strings.Contains(err.Error(), "does not exist")
}
