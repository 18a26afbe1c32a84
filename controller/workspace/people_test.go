package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/wsobject"
)

func policy(p v1alpha1.DeletionPolicy) func(*v1alpha1.Workspace) {
	return func(ws *v1alpha1.Workspace) { ws.Spec.DeletionPolicy = p }
}

// remove deletes the Workspace and waits until it is gone.
func (w *world) remove() {
	w.Helper()
	w.update(w.server.Delete(w.Context(), w.workspace()))
	w.converge()
	if ws := w.workspace(); ws != nil {
		w.Fatalf("it is still there: %+v", ws.Status)
	}
}

func TestAHomeIsArchivedBeforeItIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(policy(v1alpha1.DeletionArchive)), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace}})
	w.converge()
	w.write("work")
	w.remove()
	w.nothingIsLeft()
	var names []string
	for _, path := range w.archives() {
		names = append(names, filepath.Base(path))
	}
	if got := strings.Join(names, " "); got != "home.tar.gz home.tar.gz.meta kept" {
		t.Errorf("the store has %q, want the archive, its marker and the mark that keeps it", got)
	}
}

func TestATerminatingNamespaceIsNotBlocked(t *testing.T) { // D24
	t.Parallel()
	going := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace, Finalizers: []string{"example.com/x"}}}
	w := newWorld(t, aWorkspace(policy(v1alpha1.DeletionArchive)), going)
	w.converge()
	w.update(w.server.Delete(t.Context(), going))
	w.remove()
	w.nothingIsLeft()
	if got := strings.Join(w.newEvents(), "\n"); !strings.Contains(got, "DeletedWithoutArchive") {
		t.Errorf("no event that the home is lost:\n%s", got)
	}
}

func TestAHomeIsReleased(t *testing.T) {
	t.Parallel()
	w := inStandby(t, policy(v1alpha1.DeletionRetain))
	w.remove()
	w.expectContent("work")
	if claim := w.pvc(); !wsobject.Released(claim) || claim.DeletionTimestamp != nil {
		t.Errorf("the claim is not released: %+v", claim.ObjectMeta)
	}
}

func TestArchivingIsCancelled(t *testing.T) { // D12
	t.Parallel()
	w := inStandby(t)
	w.keepJobs = true
	w.desire(v1alpha1.DesiredPending)
	var jobs batchv1.JobList
	for range 20 {
		_ = w.pass()
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	w.update(w.server.List(t.Context(), &jobs))
	if len(jobs.Items) != 1 || !w.has(jobs.Items[0].Name, &corev1.Secret{}) {
		t.Fatalf("%d Jobs are at work, want 1 with its ticket", len(jobs.Items))
	}
	w.desire(v1alpha1.DesiredRunning)
	w.expectRunning()
	w.update(w.server.List(t.Context(), &jobs))
	if len(jobs.Items) > 0 {
		t.Error("the mover is still at work")
	}
}

// Uncommitted data of an attempt is never deleted and never reused: the next
// attempt has its own key.
func TestAnUnverifiedArchiveIsLeftToTheCollection(t *testing.T) { // D7
	t.Parallel()
	w := inStandby(t)
	w.keepJobs = true
	w.desire(v1alpha1.DesiredPending)
	var first string
	for first == "" {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
		if o := w.workspace().Status.Operation; o != nil && o.JobName != "" {
			first = o.ID
		}
	}
	torn := filepath.Join(w.bucket, "archives", string(w.workspace().UID), first)
	w.update(os.MkdirAll(torn, 0o755))
	w.update(os.WriteFile(filepath.Join(torn, "home.tar.gz"), []byte("torn"), 0o644))
	w.keepJobs = false
	w.converge()
	w.expectState("ARCHIVED")
	if status := w.workspace().Status; strings.Contains(status.ArchiveKey, first) {
		t.Errorf("the archive %s is under the key of what was torn", status.ArchiveKey)
	}
	if text, err := os.ReadFile(filepath.Join(torn, "home.tar.gz")); string(text) != "torn" {
		t.Errorf("what another mover may be writing was touched: %q, %v", text, err)
	}
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectContent("work")
}

func TestNothingIsWrittenAtRest(t *testing.T) {
	t.Parallel()
	for _, state := range []v1alpha1.DesiredState{v1alpha1.DesiredRunning, v1alpha1.DesiredStandby, v1alpha1.DesiredPending} {
		w := inStandby(t)
		w.desire(state)
		w.converge()
		before := w.faults.writes
		for range 50 {
			w.update(w.pass())
			w.clock.SetTime(w.clock.Now().Add(w.wait))
		}
		if w.faults.writes != before || w.wait != lifecycle.Poll {
			t.Errorf("%s: %d writes, the last %v; the next pass is in %v", state, w.faults.writes-before, w.faults.log[before:], w.wait)
		}
	}
}

func TestAPauseOnlyReports(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Pause, ws.Spec.DesiredState = true, v1alpha1.DesiredPending })
	w.converge()
	w.expectState("STANDBY")
	w.expectContent("work")
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Pause = false })
	w.converge()
	w.expectState("ARCHIVED")
}

// A status can be lost, by a restore of the cluster or by hand. The archived home must not be forgotten
// with it.
func TestALostStatusForgetsNoArchive(t *testing.T) {
	t.Parallel()
	w := archivedLongAgo(t)
	w.edit(func(s *v1alpha1.WorkspaceStatus) { *s = v1alpha1.WorkspaceStatus{} })
	w.update(os.Rename(w.bucket, w.bucket+".away"))
	w.desire(v1alpha1.DesiredRunning)
	for range 5 {
		_ = w.pass()
	}
	if phase := w.workspace().Status.Phase; phase != "" || w.has("ws-home-home", &corev1.PersistentVolumeClaim{}) {
		t.Errorf("it continued to %q without knowing whether there is an archive", phase)
	}
	w.update(os.Rename(w.bucket+".away", w.bucket))
	w.expectRunning()
}

func TestAVolumeGrows(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	size := func() string {
		claim := w.pvc()
		return claim.Spec.Resources.Requests.Storage().String()
	}
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Storage.Size = "2Gi" })
	w.converge()
	if got := size(); got != "2Gi" {
		t.Errorf("the volume was asked for %s, want 2Gi", got)
	}
	tried := 0
	w.faults.refuse = func(verb string, object client.Object) error {
		if _, ok := object.(*corev1.PersistentVolumeClaim); !ok || verb != "patch" {
			return nil
		}
		tried++
		return apierrors.NewForbidden(schema.GroupResource{}, object.GetName(), errors.New("its class does not allow it"))
	}
	w.newEvents()
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Storage.Size = "3Gi" })
	w.converge()
	for range 5 {
		w.update(w.pass())
	}
	if got := strings.Join(w.newEvents(), "\n"); tried != 1 || size() != "2Gi" || !strings.Contains(got, "VolumeNotGrown") || !strings.Contains(got, "its class does not allow it") {
		t.Errorf("tried %d times, it has %s, events:\n%s", tried, size(), got)
	}
	w.expectState("STANDBY")
}
