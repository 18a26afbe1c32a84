// Package wsobject has what controllers and webhooks both know about the objects of a Workspace: their names, and by which marks a
// volume is a home.
package wsobject

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

const (
	// LabelManagedBy has the value ManagedBy. A volume without it was released.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is Kyklos.
	ManagedBy = "kyklos"
	// LabelWorkspace is the Workspace's name.
	LabelWorkspace = "kyklos.io/workspace"
	// LabelWorkspaceUID is its UID.
	LabelWorkspaceUID = "kyklos.io/workspace-uid"
	// AnnotationContent is what a volume holds.
	AnnotationContent = "kyklos.io/home-content"
)

// PodName returns the name of the Workspace's Pod.
func PodName(workspace string) string { return "ws-" + workspace }

// VolumeName returns the name of the Workspace's PersistentVolumeClaim.
func VolumeName(workspace string) string { return "ws-" + workspace + "-home" }

// IsVolumeName reports whether a PersistentVolumeClaim of this name can be the home of a Workspace.
func IsVolumeName(claim string) bool {
	return strings.HasPrefix(claim, PodName("")) && strings.HasSuffix(claim, "-home")
}

// Content returns what a PersistentVolumeClaim is marked to hold; "" if it has no mark, or an unknown one.
func Content(pvc metav1.Object) lifecycle.Content {
	if content := lifecycle.Content(pvc.GetAnnotations()[AnnotationContent]); content.IsHome() {
		return content
	}
	return ""
}

// OurVolume reports whether a PersistentVolumeClaim belongs to this Workspace: it has its UID as a label and no other
// controller (D20).
func OurVolume(ws *v1alpha1.Workspace, pvc metav1.Object) bool {
	return pvc.GetLabels()[LabelWorkspaceUID] == string(ws.UID) && !ControlledByOther(ws, pvc)
}

// ControlledByOther reports whether another object controls the PersistentVolumeClaim.
func ControlledByOther(ws *v1alpha1.Workspace, pvc metav1.Object) bool {
	controller := metav1.GetControllerOf(pvc)
	return controller != nil && controller.UID != ws.UID
}

// Released reports whether the Workspace's PersistentVolumeClaim was released to the user.
func Released(pvc metav1.Object) bool { return pvc.GetLabels()[LabelManagedBy] != ManagedBy }

// LeftBehind reports whether a PersistentVolumeClaim is the home that a deleted Workspace of this name left behind.
func LeftBehind(ws *v1alpha1.Workspace, pvc metav1.Object) bool {
	marks := pvc.GetLabels()
	return !OurVolume(ws, pvc) && Released(pvc) && marks[LabelWorkspace] == ws.Name && marks[LabelWorkspaceUID] != "" &&
		Content(pvc) != "" && metav1.GetControllerOf(pvc) == nil
}
