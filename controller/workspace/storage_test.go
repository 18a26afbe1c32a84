package workspace

import (
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/lifecycle"
)

// A class that is gone, or a size that is too small, can be changed while there is no volume: also one that is waited for, and
// one that is being restored to (W74).
func TestAnotherVolumeIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(func(ws *v1alpha1.Workspace) { ws.Spec.Storage.StorageClassName = retired }))
	w.expectRetries("Timeout", lifecycle.CodeTimedOut, `StorageClass "retired" does not exist`) // its volume is never bound
	first := w.pvc().UID
	w.change(func(ws *v1alpha1.Workspace) {
		ws.Spec.Storage.StorageClassName, ws.Spec.Storage.Size = "", "3Gi"
	})
	w.converge()
	w.expectState("RUNNING")
	if claim := w.pvc(); claim.UID == first || claim.Spec.StorageClassName != nil || claim.Spec.Resources.Requests.Storage().String() != "3Gi" {
		t.Errorf("the volume is still the first one, or as it: %+v", claim.Spec)
	}
	w.write("work")
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	w.ended = func(result *mover.Result) {
		*result = mover.Result{Code: mover.DiskFull, Message: "no space left on device"}
	}
	w.change(func(ws *v1alpha1.Workspace) {
		ws.Spec.Storage.Size, ws.Spec.DesiredState = "1Gi", v1alpha1.DesiredRunning
	})
	for range 15 {
		w.update(w.pass())
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	if failure := w.workspace().Status.Error; failure == nil || !strings.Contains(failure.Message, "Increase spec.storage.size") {
		t.Errorf("it does not say what to do: %+v", failure)
	}
	w.ended = nil
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Storage.Size = "2Gi" })
	w.expectRunning()
	if got := w.pvc().Spec.Resources.Requests.Storage().String(); got != "2Gi" {
		t.Errorf("the volume was made with %s, want 2Gi", got)
	}
}
