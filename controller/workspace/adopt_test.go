package workspace

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// restoredOnce is a Workspace in STANDBY whose home was archived and restored, and changed since.
func restoredOnce(t *testing.T) *world {
	t.Helper()
	w := inStandby(t)
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.write("newer than its archive")
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectState("STANDBY")
	return w
}

// bringBack replaces the volume by a copy, as a backup tool does, or a person.
func (w *world) bringBack(change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	w.Helper()
	lost, backup := w.pvc(), w.TempDir()
	w.update(os.CopyFS(backup, os.DirFS(w.diskOf(lost))))
	w.update(w.server.Delete(w.Context(), lost))
	w.nodes()
	w.converge()
	w.expectError(v1alpha1.FailureReason(lifecycle.DataLost), lifecycle.CodeVolumeLost, "kyklos.io/adopt-volume=$(kubectl get pvc -n team ws-home-home ")
	back := lost.DeepCopy()
	back.ResourceVersion, back.Finalizers, back.Status = "", nil, corev1.PersistentVolumeClaimStatus{}
	change(back)
	w.update(w.server.Create(w.Context(), back))
	w.update(os.CopyFS(w.diskOf(back), os.DirFS(backup)))
	w.converge()
	if w.workspace().Status.DisplayState != "ERROR" || w.pvc().DeletionTimestamp != nil {
		w.Errorf("before anyone chose it: %s", w.workspace().Status.DisplayState)
	}
	return back
}

// W78: a volume that was brought back is adopted by its UID, and its home archived and restored, whatever made it.
func TestAVolumeThatWasBroughtBackIsAdopted(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*corev1.PersistentVolumeClaim){
		"by a backup tool": func(*corev1.PersistentVolumeClaim) {},
		"by hand":          func(c *corev1.PersistentVolumeClaim) { c.Labels, c.Annotations = nil, nil },
		"of an earlier Workspace": func(c *corev1.PersistentVolumeClaim) {
			c.Labels[objects.LabelWorkspaceUID] = "another"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := restoredOnce(t)
			back := w.bringBack(change)
			w.annotate(objects.AnnotationAdopt, string(back.UID))
			w.converge()
			w.expectState("STANDBY")
			w.expectContent("newer than its archive")
			if events := strings.Join(w.newEvents(), "\n"); !strings.Contains(events, "VolumeAdopted") {
				t.Errorf("no event:\n%s", events)
			}
			w.desire(v1alpha1.DesiredPending)
			w.converge()
			w.expectState("ARCHIVED")
			w.desire(v1alpha1.DesiredRunning)
			w.converge()
			w.expectState("RUNNING")
			w.expectContent("newer than its archive")
		})
	}
}

// W78: what nobody named, or another object controls, is left alone.
func TestNoVolumeIsAdoptedByAccident(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*corev1.PersistentVolumeClaim)
		named  string // the UID, in place of the volume's
	}{
		"another UID": {func(c *corev1.PersistentVolumeClaim) { c.Labels = nil }, "another"},
		"controlled by another": {func(c *corev1.PersistentVolumeClaim) {
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "x", Controller: ptr.To(true)}}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := restoredOnce(t)
			back := w.bringBack(tc.change)
			before := w.pvc().ObjectMeta
			if tc.named == "" {
				tc.named = string(back.UID)
			}
			w.annotate(objects.AnnotationAdopt, tc.named)
			w.converge()
			w.expectError(v1alpha1.FailureReason(lifecycle.DataLost), lifecycle.CodeVolumeLost)
			if after := w.pvc().ObjectMeta; after.ResourceVersion != before.ResourceVersion {
				t.Errorf("it was changed: %+v", after)
			}
		})
	}
}
