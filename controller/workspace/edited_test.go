package workspace

import (
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// forget removes the volume's content from the status, as a manual edit or another version would.
func (w *world) forget(content v1alpha1.VolumeContent) {
	w.Helper()
	ws := w.workspace()
	ws.Status.Volume.Content = content
	w.update(w.server.Status().Update(w.Context(), ws))
}

// The volume's marker says that it is a home, so it is not deleted even if the status does not say so (W3).
func TestAHomeIsKnownByItsVolume(t *testing.T) {
	t.Parallel()
	for _, content := range []v1alpha1.VolumeContent{"", v1alpha1.ContentUninitialized} {
		w := inStandby(t)
		w.forget(content)
		w.converge()
		w.expectState("STANDBY")
		w.expectContent("work")
		w.desire(v1alpha1.DesiredPending)
		w.converge()
		w.desire(v1alpha1.DesiredRunning)
		w.converge()
		w.write("more") // than is in the archive
		w.forget(content)
		w.converge()
		w.expectState("RUNNING")
		w.expectContent("more")
	}
}

func TestAHomeThatWasForgottenIsArchivedBeforeItIsDeleted(t *testing.T) {
	t.Parallel()
	w := inStandby(t, policy(v1alpha1.DeletionArchive))
	w.update(w.server.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace}}))
	w.forget("")
	w.remove()
	if kept := w.archives(); len(kept) != 3 {
		t.Errorf("the store has %q, want the archive, its marker and the mark that keeps it", kept)
	}
}

// A volume on which nothing ever ran has no folder for the home, also after its archive was lost.
func TestAHomeThatWasNeverUsedIsArchivedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(func(ws *v1alpha1.Workspace) { ws.Spec.DesiredState = v1alpha1.DesiredPending }))
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.desire(v1alpha1.DesiredPending)
	for range 60 {
		if o := w.workspace().Status.Operation; o != nil && o.PointOfNoReturn {
			break
		}
		_ = w.pass()
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	for _, name := range w.archives() {
		w.update(os.Remove(name))
	}
	w.converge()
	w.expectState("ARCHIVED")
}
