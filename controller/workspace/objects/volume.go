package objects

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Volume makes the home's PersistentVolumeClaim for ActCreateVolume. It has no marker: nothing was put
// there yet. The error is about a size that is none.
func Volume(ws *v1alpha1.Workspace, act lifecycle.Action) (*corev1.PersistentVolumeClaim, error) {
	size, err := quantity("spec.storage.size", ws.Spec.Storage.Size)
	if err != nil {
		return nil, err
	}
	marks := labels(ws)
	marks[LabelOperation] = act.OperationID
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: VolumeName(ws.Name), Namespace: ws.Namespace, Labels: marks},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(ws.Spec.Storage.AccessMode)},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
	if class := ws.Spec.Storage.StorageClassName; class != "" {
		claim.Spec.StorageClassName = &class
	}
	return claim, nil
}

// VolumeBytes returns how many bytes a home can be of: the larger of what was asked for and what the
// claim was given; claim may be nil.
func VolumeBytes(ws *v1alpha1.Workspace, claim *corev1.PersistentVolumeClaim) (int64, error) {
	size, err := quantity("spec.storage.size", ws.Spec.Storage.Size)
	if err != nil {
		return 0, err
	}
	bytes := size.Value()
	if claim != nil {
		bytes = max(bytes, claim.Status.Capacity.Storage().Value())
	}
	return bytes, nil
}

// OurVolume reports whether a claim is this very Workspace's: it has its UID as a label, and nobody else
// as its controller (D20).
func OurVolume(ws *v1alpha1.Workspace, claim *corev1.PersistentVolumeClaim) bool {
	controller := metav1.GetControllerOf(claim)
	return claim.Labels[LabelWorkspaceUID] == string(ws.UID) && (controller == nil || controller.UID == ws.UID)
}

// Released reports whether a claim of ours was left to its owner.
func Released(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Labels[LabelManagedBy] != ManagedBy
}

// Marker returns what a claim says was put there; the zero value if nothing, or nothing that is known.
func Marker(claim *corev1.PersistentVolumeClaim) lifecycle.Marker {
	switch content := lifecycle.Content(claim.Annotations[AnnotationContent]); content {
	case lifecycle.Empty, lifecycle.Restored:
		return lifecycle.Marker{
			Content: content, RestoredFrom: claim.Annotations[AnnotationRestoredFrom], OperationID: claim.Annotations[AnnotationOperation],
		}
	default:
		return lifecycle.Marker{}
	}
}

// MarkPatch returns the merge patch of ActMarkVolume. The API server refuses it with a conflict for a
// claim of another UID.
func MarkPatch(act lifecycle.Action) []byte {
	return patch(act.UID, "annotations", map[string]any{
		AnnotationContent: string(act.Marker.Content), AnnotationRestoredFrom: orNull(act.Marker.RestoredFrom), AnnotationOperation: act.Marker.OperationID,
	})
}

// ReleasePatch returns the merge patch of ActReleaseVolume, with the same precondition: the volume is
// managed by nobody any more. The other labels stay, and tell whose home it is.
func ReleasePatch(act lifecycle.Action) []byte {
	return patch(act.UID, "labels", map[string]any{LabelManagedBy: nil})
}

func patch(uid, field string, values map[string]any) []byte {
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": uid, field: values}})
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

// quantity reads an amount. The CRD has checked it, so an error means that its rules were passed by.
func quantity(field, text string) (resource.Quantity, error) {
	amount, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}, fmt.Errorf("%s: %q is no quantity; it must be one such as 500m or 4Gi", field, text)
	}
	return amount, nil
}
