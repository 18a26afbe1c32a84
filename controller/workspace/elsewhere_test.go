package workspace

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/lifecycle"
)

// point changes the Secret of the store to another folder.
func (w *world) point(folder string) {
	w.Helper()
	var secret corev1.Secret
	w.update(w.server.Get(w.Context(), client.ObjectKey{Namespace: home.Namespace, Name: storeName}, &secret))
	secret.Data = map[string][]byte{connect.Folder: []byte(folder)}
	w.update(w.server.Update(w.Context(), &secret))
}

// away is a world with an archived home that holds "work", whose Secret now names another store.
func away(t *testing.T, change ...func(*v1alpha1.Workspace)) (w *world, other string) {
	t.Helper()
	w = inStandby(t, change...)
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	if store := w.workspace().Status.Archive.Store; store != "file://"+w.bucket+"/" {
		t.Fatalf("the archive is recorded in %q", store)
	}
	other = t.TempDir()
	w.point(other)
	return w, other
}

func TestAnArchiveInAnotherStoreIsNotLost(t *testing.T) { // D23
	t.Parallel()
	w, other := away(t)
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.expectError(v1alpha1.FailureReason(lifecycle.Unreachable), lifecycle.CodeArchiveElsewhere,
		"file://"+w.bucket+"/", "team/store", "file://"+other+"/", "archives/"+string(w.workspace().UID)+" ")
	w.point(w.bucket)
	w.clock.SetTime(w.clock.Now().Add(lifecycle.Probe))
	w.expectRunning()
}

func TestAStoreThatWasMovedIsRecorded(t *testing.T) {
	t.Parallel()
	w, other := away(t)
	w.update(os.CopyFS(other, os.DirFS(w.bucket)))
	w.update(os.RemoveAll(w.bucket))
	w.desire(v1alpha1.DesiredRunning)
	w.expectRunning()
	if store := w.workspace().Status.Archive.Store; store != "file://"+other+"/" {
		t.Errorf("the archive is recorded in %q", store)
	}
}

func TestAnArchiveInAnotherStoreCanBeGivenUp(t *testing.T) {
	t.Parallel()
	w, _ := away(t)
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.annotate(objects.AnnotationAcceptLoss, w.workspace().Status.ArchiveKey)
	w.converge()
	w.expectState("RUNNING")
}

func TestADeletionReportsAnArchiveElsewhere(t *testing.T) {
	t.Parallel()
	w, _ := away(t, policy(v1alpha1.DeletionRetain))
	w.newEvents()
	w.update(w.server.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace}}))
	w.update(w.server.Delete(t.Context(), w.workspace()))
	for range 10 {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(lifecycle.Probe))
	}
	ready := meta.FindStatusCondition(w.workspace().Status.Conditions, v1alpha1.ConditionReady)
	if got := strings.Join(w.newEvents(), "\n"); ready == nil || ready.Reason != v1alpha1.ReasonArchiveElsewhere || strings.Count(got, "Warning ArchiveElsewhere ") != 1 {
		t.Errorf("Ready %+v, events:\n%s", ready, got)
	}
	w.point(w.bucket)
	w.converge()
	if ws := w.workspace(); ws != nil || len(w.archives()) != 3 {
		t.Errorf("%+v is there, with %q", ws, w.archives())
	}
}

// If the Workspace is deleted together with the Secret of its store, a message explains how to continue.
func TestADeletionThatWaitsForAStoreCanBeReleased(t *testing.T) {
	t.Parallel()
	w, _ := away(t, policy(v1alpha1.DeletionRetain))
	w.update(w.server.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace}}))
	w.update(w.server.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: storeName}}))
	w.update(w.server.Delete(t.Context(), w.workspace()))
	for range 10 {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(lifecycle.Probe))
	}
	ready := meta.FindStatusCondition(w.workspace().Status.Conditions, v1alpha1.ConditionReady)
	if ready.Reason != v1alpha1.ReasonStoreUnreachable || !strings.Contains(ready.Message, `-p '{"spec":{"deletionPolicy":"Delete"}}'`) {
		t.Errorf("Ready %+v", ready)
	}
	w.change(policy(v1alpha1.DeletionDelete))
	w.converge()
	if ws := w.workspace(); ws != nil {
		t.Errorf("%+v is there", ws)
	}
}
