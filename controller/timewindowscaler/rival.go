package timewindowscaler

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

const (
	// anotherWriter is who rewrites the count if the managed fields do not tell.
	anotherWriter = "Another writer"
	// autoscalerManager is the field manager of Kubernetes' own controllers, of which only the
	// HorizontalPodAutoscaler writes scales.
	autoscalerManager = "kube-controller-manager"
)

// rivalOf names who rewrote the target's count. The caches leave managed fields out (B9), so this is one
// request, once in a fight.
func (r *Reconciler) rivalOf(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs observation) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, scalePatience)
	defer cancel()
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(targetkind.Of(tws.Spec.TargetRef))
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: tws.Namespace, Name: tws.Spec.TargetRef.Name}, object)
	switch {
	case apierrors.IsNotFound(err) || isRefusal(err):
		return anotherWriter, nil
	case err != nil:
		return "", fmt.Errorf("read who owns the replicas of the target: %w", err)
	}
	return rivalAmong(object.ManagedFields, obs), nil
}

// rivalAmong names the owner of the count that is not Kyklos; of several the last that wrote.
func rivalAmong(entries []metav1.ManagedFieldsEntry, obs observation) string {
	path := []string{"f:spec", "f:replicas"}
	if obs.target.daemons != nil {
		path = []string{"f:spec", "f:template", "f:spec", "f:nodeSelector", "f:" + SuspendKey}
	}
	rival := newestOwner(entries, path...)
	if _, further := obs.workload.(scalables); rival == nil && further && !obs.target.unset {
		rival = newestOwner(entries, "f:spec") // its count may be anywhere in it
	}
	switch {
	case rival == nil:
		return anotherWriter
	case rival.Manager == autoscalerManager && rival.Subresource == "scale" && obs.autoscaler != "":
		return "HorizontalPodAutoscaler " + obs.autoscaler
	default:
		return "Field manager " + rival.Manager
	}
}

// newestOwner returns the last entry of another manager that owns something at path; nil if there is none.
func newestOwner(entries []metav1.ManagedFieldsEntry, path ...string) *metav1.ManagedFieldsEntry {
	var newest *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Manager == "" || entry.Manager == FieldManager || !owns(entry, path) {
			continue
		}
		if newest == nil || newest.Time.Before(entry.Time) {
			newest = entry
		}
	}
	return newest
}

// owns reads a set of fields in its stored form (KEP-555): each level is an object with a key for each
// field.
func owns(entry *metav1.ManagedFieldsEntry, path []string) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	var fields map[string]any
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
		return false
	}
	_, found, err := unstructured.NestedFieldNoCopy(fields, path...)
	return found && err == nil
}
