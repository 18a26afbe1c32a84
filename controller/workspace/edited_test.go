package workspace

import (
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// forget takes out of the status what the volume holds, by hand or as a program of another version would.
func (w *world) forget(content v1alpha1.VolumeContent) {
	w.Helper()
	ws := w.workspace()
	ws.Status.Volume.Content = content
	w.update(w.server.Status().Update(w.Context(), ws))
}

// The volume itself says that it is a home. A status that does not is no reason to delete it (W3).
func TestAHomeIsKnownByItsVolume(t *testing.T) {
	t.Parallel()
	for _, content := range []v1alpha1.VolumeContent{"", v1alpha1.ContentUninitialized} {
		w := inStandby(t)
		w.forget(content)
		w.settle()
		w.is("STANDBY")
		w.holds("work")
		w.desire(v1alpha1.DesiredPending)
		w.settle()
		w.desire(v1alpha1.DesiredRunning)
		w.settle()
		w.write("more") // than is in the archive
		w.forget(content)
		w.settle()
		w.is("RUNNING")
		w.holds("more")
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
	w.settle()
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
	w.settle()
	w.is("ARCHIVED")
}
