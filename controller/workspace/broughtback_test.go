package workspace

import (
	"context"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/mover"
)

// onlyOurs reads as from the cache: a claim that was made by hand is not in it.
func onlyOurs(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := c.Get(ctx, key, object, options...); err != nil {
		return err
	}
	if claim, ok := object.(*corev1.PersistentVolumeClaim); ok && claim.Labels[objects.LabelManagedBy] != objects.ManagedBy {
		*claim = corev1.PersistentVolumeClaim{}
		return apierrors.NewNotFound(corev1.Resource("persistentvolumeclaims"), key.Name)
	}
	return nil
}

// checkHome runs the init container that looks for the home, if the Pod has it. It reports whether the others may start, and
// whether the Pod's status has changed.
func (w *world) checkHome(pod *corev1.Pod) (found, changed bool) {
	w.Helper()
	if len(pod.Spec.InitContainers) == 0 || pod.Spec.InitContainers[0].Name != objects.HomeCheckContainer {
		return true, false
	}
	err := mover.CheckHome(w.diskOf(w.pvc()))
	if err == nil || len(pod.Status.InitContainerStatuses) > 0 {
		return err == nil, false
	}
	result := mover.Failed(archive.Key{}, err)
	pod.Status.Phase = corev1.PodPending
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: objects.HomeCheckContainer, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(result.Code.ExitCode()), Message: string(result.JSON())},
	}}}
	w.update(w.server.Status().Update(w.Context(), pod))
	return false, true
}

// byHand makes the claim of the home before there is a Workspace, as a person does, with one file on its volume.
func (w *world) byHand(file string, change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	w.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: objects.VolumeName(home.Name)}}
	for _, c := range change {
		c(claim)
	}
	w.update(w.server.Create(w.Context(), claim))
	path := filepath.Join(w.diskOf(claim), file)
	w.update(os.MkdirAll(filepath.Dir(path), 0o755))
	w.update(os.WriteFile(path, []byte("work"), 0o644))
	w.nodes()
	return claim
}

// applyNaming creates a Workspace that names the claim as its home, if it is not nil.
func (w *world) applyNaming(desired v1alpha1.DesiredState, claim *corev1.PersistentVolumeClaim) {
	w.Helper()
	ws := aWorkspace()
	ws.Spec.DesiredState = desired
	if claim != nil {
		ws.Annotations = map[string]string{objects.AnnotationAdopt: string(claim.UID)}
	}
	w.update(w.server.Create(w.Context(), ws))
}
