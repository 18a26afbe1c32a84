package objects

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/wsobject"
)

// The labels of the objects of a Workspace.
const (
	LabelManagedBy    = wsobject.LabelManagedBy
	ManagedBy         = wsobject.ManagedBy
	LabelWorkspace    = wsobject.LabelWorkspace
	LabelWorkspaceUID = wsobject.LabelWorkspaceUID
	// LabelOperation and LabelAttempt are the operation and the attempt that created an object (D2).
	LabelOperation = "kyklos.io/operation-id"
	LabelAttempt   = "kyklos.io/attempt"
	// LabelVolumeUID is the volume of a Job (D1).
	LabelVolumeUID = "kyklos.io/volume-uid"
	// LabelRole is RoleWorkspace or RoleMover; of Pods and Jobs.
	LabelRole     = "kyklos.io/role"
	RoleWorkspace = "workspace"
	RoleMover     = "mover"
)

// The annotations of a volume: its marker, which describes its content and the operation that put it there.
const (
	AnnotationContent      = wsobject.AnnotationContent
	AnnotationRestoredFrom = "kyklos.io/home-restored-from"
	AnnotationOperation    = "kyklos.io/operation"
	// AnnotationAdopted is "true" if a person named the volume as the home.
	AnnotationAdopted = "kyklos.io/home-adopted"
)

// annotationSpec is a digest of the part of the spec that a Pod or a volume was created from.
const annotationSpec = "kyklos.io/made-of"

// The annotations of a Workspace by which users resolve ERROR (D8, D6).
const (
	// AnnotationRetry requests a retry whenever its value changes.
	AnnotationRetry = "kyklos.io/retry"
	// AnnotationAcceptLoss accepts the loss of the volume with this UID or the archive with this key.
	AnnotationAcceptLoss = "kyklos.io/accept-data-loss"
	// AnnotationAdopt names the volume that is the home by its UID (W78).
	AnnotationAdopt = "kyklos.io/adopt-volume"
)

// Finalizer keeps a deleted Workspace until its objects are handled in the right order.
const Finalizer = "kyklos.io/workspace"

// The names of the Workspace's Pod and of its PersistentVolumeClaim.
var (
	PodName    = wsobject.PodName
	VolumeName = wsobject.VolumeName
)

// labels returns the labels of all objects of a Workspace.
func labels(ws *v1alpha1.Workspace) map[string]string {
	return map[string]string{
		LabelManagedBy: ManagedBy, LabelWorkspace: ws.Name, LabelWorkspaceUID: string(ws.UID),
	}
}

// meta returns the metadata of an object that is deleted with the Workspace. It does not block the deletion of the Workspace;
// the finalizer does.
func meta(ws *v1alpha1.Workspace, name, role string, act lifecycle.Action) metav1.ObjectMeta {
	marks := labels(ws)
	marks[LabelRole] = role
	marks[LabelOperation] = act.OperationID
	marks[LabelAttempt] = strconv.Itoa(int(act.Attempt))
	return metav1.ObjectMeta{Name: name, Namespace: ws.Namespace, Labels: marks, OwnerReferences: owners(ws)}
}

// owners are those of an object that is deleted with the Workspace.
func owners(ws *v1alpha1.Workspace) []metav1.OwnerReference {
	controller := true
	return []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Workspace", Name: ws.Name, UID: ws.UID, Controller: &controller,
	}}
}

// Ours reports whether a Pod, Job, Secret or Service belongs to this Workspace: its controller has the same UID (D20).
func Ours(ws *v1alpha1.Workspace, object metav1.Object) bool {
	return metav1.IsControlledBy(object, ws)
}

// Origin returns the operation and the attempt that created an object; empty and 0 if unknown.
func Origin(object metav1.Object) (operationID string, attempt int32) {
	n, err := strconv.ParseInt(object.GetLabels()[LabelAttempt], 10, 32)
	if err != nil {
		n = 0
	}
	return object.GetLabels()[LabelOperation], int32(n)
}
