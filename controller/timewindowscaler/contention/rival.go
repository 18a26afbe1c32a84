package contention

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
)

const (
	// anotherWriter is the rival if the managed fields do not name one.
	anotherWriter = "Another writer"
	// autoscalerManager is the field manager of Kubernetes' own controllers, of which only the
	// HorizontalPodAutoscaler writes scales.
	autoscalerManager = "kube-controller-manager"
	// rivalTimeout bounds the request for the managed fields.
	rivalTimeout = 5 * time.Second
)

// Rival names the writer that rewrote what Kyklos set, and the object that controls the target, if any. The caches leave managed fields out (B9), so this is
// one request, once in a fight. autoscaler is the name of an HPA on the same target, "" if there is none.
func Rival(ctx context.Context, reader client.Reader, tws *v1beta1.TimeWindowScaler, t target.Target, autoscaler string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, rivalTimeout)
	defer cancel()
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(targetkind.Of(tws.Spec.TargetRef))
	err := reader.Get(ctx, types.NamespacedName{Namespace: tws.Namespace, Name: tws.Spec.TargetRef.Name}, object)
	switch {
	case apierrors.IsNotFound(err) || failure.IsRefusal(err):
		return anotherWriter, nil
	case err != nil:
		return "", fmt.Errorf("read the managed fields of the target: %w", err)
	}
	rival := rivalAmong(object.ManagedFields, t.ManagedFields(), autoscaler)
	if controller := metav1.GetControllerOf(object); controller != nil {
		rival = fmt.Sprintf("%s (%s %s controls this target)", rival, controller.Kind, controller.Name)
	}
	return rival, nil
}

// rivalAmong names the manager, other than Kyklos, that owns something at the first of the paths where
// there is one; of several the one that wrote last.
func rivalAmong(entries []metav1.ManagedFieldsEntry, paths [][]string, autoscaler string) string {
	for _, path := range paths {
		switch rival := newestOwner(entries, path); {
		case rival == nil:
		case rival.Manager == autoscalerManager && rival.Subresource == "scale" && autoscaler != "":
			return "HorizontalPodAutoscaler " + autoscaler
		default:
			return "Field manager " + rival.Manager
		}
	}
	return anotherWriter
}

// newestOwner returns the last entry of another manager that owns something at path; nil if there is none.
func newestOwner(entries []metav1.ManagedFieldsEntry, path []string) *metav1.ManagedFieldsEntry {
	var newest *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Manager == "" || entry.Manager == target.FieldManager || !targetkind.Owns(entry, path) {
			continue
		}
		if newest == nil || newest.Time.Before(entry.Time) {
			newest = entry
		}
	}
	return newest
}
