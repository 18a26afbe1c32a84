package objects

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/wsobject"
)

// Volume builds the home's PersistentVolumeClaim for ActCreateVolume, without a marker. The error is about an invalid size.
func Volume(ws *v1alpha1.Workspace, act lifecycle.Action) (*corev1.PersistentVolumeClaim, error) {
	size, err := quantity("spec.storage.size", ws.Spec.Storage.Size)
	if err != nil {
		return nil, err
	}
	marks := labels(ws)
	marks[LabelOperation] = act.OperationID
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: VolumeName(ws.Name), Namespace: ws.Namespace, Labels: marks, Annotations: map[string]string{annotationSpec: volumeOf(ws, size)},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(ws.Spec.Storage.AccessMode)},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
	if class := ws.Spec.Storage.StorageClassName; class != "" {
		pvc.Spec.StorageClassName = &class
	}
	return pvc, nil
}

// OutdatedVolume reports whether the PersistentVolumeClaim was created from another spec.storage than the current one.
func OutdatedVolume(ws *v1alpha1.Workspace, pvc *corev1.PersistentVolumeClaim) bool {
	made, known := pvc.Annotations[annotationSpec]
	size, err := quantity("spec.storage.size", ws.Spec.Storage.Size)
	return known && err == nil && made != volumeOf(ws, size)
}

// volumeOf returns a digest of what a PersistentVolumeClaim is created from. The claim itself shows neither the size it was
// created with nor whether its class was asked for.
func volumeOf(ws *v1alpha1.Workspace, size resource.Quantity) string {
	return digest([]any{size.Value(), ws.Spec.Storage.StorageClassName, ws.Spec.Storage.AccessMode})
}

// VolumeBytes returns the maximum size of a home: the larger of the requested and the actual size of the volume. pvc may be
// nil.
func VolumeBytes(ws *v1alpha1.Workspace, pvc *corev1.PersistentVolumeClaim) (int64, error) {
	size, err := quantity("spec.storage.size", ws.Spec.Storage.Size)
	if err != nil {
		return 0, err
	}
	bytes := size.Value()
	if pvc != nil {
		bytes = max(bytes, pvc.Status.Capacity.Storage().Value())
	}
	return bytes, nil
}

// Marker returns the marker of a PersistentVolumeClaim; the zero value if there is none or it is unknown.
func Marker(pvc *corev1.PersistentVolumeClaim) lifecycle.Marker {
	content := wsobject.Content(pvc)
	if content == "" {
		return lifecycle.Marker{}
	}
	return lifecycle.Marker{
		Content: content, RestoredFrom: pvc.Annotations[AnnotationRestoredFrom], OperationID: pvc.Annotations[AnnotationOperation],
		Adopted: pvc.Annotations[AnnotationAdopted] != "",
	}
}

// MarkPatch returns the merge patch of ActMarkVolume. The API server rejects it with a conflict if the UID differs.
func MarkPatch(act lifecycle.Action) []byte {
	return patch(act.UID, map[string]any{"annotations": markerOf(act)})
}

func markerOf(act lifecycle.Action) map[string]any {
	adopted := ""
	if act.Marker.Adopted {
		adopted = "true"
	}
	return map[string]any{
		AnnotationAdopted: orNull(adopted),
		AnnotationContent: string(act.Marker.Content), AnnotationRestoredFrom: orNull(act.Marker.RestoredFrom), AnnotationOperation: orNull(act.Marker.OperationID),
	}
}

// AdoptPatch returns the merge patch of ActAdoptVolume, with the same precondition: the volume has the labels of the
// Workspace's own, and a marker.
func AdoptPatch(ws *v1alpha1.Workspace, act lifecycle.Action) []byte {
	return patch(act.UID, map[string]any{"labels": labels(ws), "annotations": markerOf(act)})
}

// ReleasePatch returns the merge patch of ActReleaseVolume, with the same precondition: the volume is
// unmanaged. The other labels stay and identify the home.
func ReleasePatch(act lifecycle.Action) []byte {
	return patch(act.UID, map[string]any{"labels": map[string]any{LabelManagedBy: nil}})
}

func patch(uid string, metadata map[string]any) []byte {
	metadata["uid"] = uid
	text, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		panic(err) // strings only
	}
	return text
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// quantity parses an amount. The CRD validates it, so an error means that its rules were bypassed.
func quantity(field, text string) (resource.Quantity, error) {
	amount, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("%s: %q is not a quantity such as 500m or 4Gi", field, text)
	}
	return amount, nil
}
