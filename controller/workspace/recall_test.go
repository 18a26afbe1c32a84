package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// archivedLongAgo is a world with an archived home that holds "work".
func archivedLongAgo(t *testing.T) *world {
	t.Helper()
	w := inStandby(t)
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	return w
}

// edit writes the status by hand.
func (w *world) edit(do func(*v1alpha1.WorkspaceStatus)) {
	w.Helper()
	ws := w.workspace()
	do(&ws.Status)
	w.update(w.server.Status().Update(w.Context(), ws))
}

// empty checks that the home exists and is empty.
func (w *world) empty() {
	w.Helper()
	if _, err := os.Stat(filepath.Join(w.diskOf(w.pvc()), "home", "work")); !errors.Is(err, os.ErrNotExist) {
		w.Errorf("the home is not empty: %v", err)
	}
}

// A status without archiveKey does not lose the home. If the rest of the status shows that there was an
// archive, that is used; if not, the store is checked before an empty home is created.
func TestAnArchiveKeyTakenOutByHand(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(*v1alpha1.WorkspaceStatus)
		hint bool
	}{
		"the key": {func(*v1alpha1.WorkspaceStatus) {}, true},
		"all but a condition": {func(s *v1alpha1.WorkspaceStatus) {
			s.Archive = nil
		}, true},
		"all but the record": {func(s *v1alpha1.WorkspaceStatus) { s.Conditions = nil }, true},
		"all": {func(s *v1alpha1.WorkspaceStatus) {
			s.Archive, s.Conditions = nil, nil
		}, true},
		"all, and it says that there is none": {func(s *v1alpha1.WorkspaceStatus) {
			s.Archive = nil
			meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: "ArchiveReady", Status: metav1.ConditionFalse, Reason: "NoArchive"})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := archivedLongAgo(t)
			key := w.workspace().Status.ArchiveKey
			w.edit(func(s *v1alpha1.WorkspaceStatus) {
				s.ArchiveKey = ""
				tc.edit(s)
			})
			w.converge()
			if got := w.workspace().Status.ArchiveKey; (got == key) != tc.hint {
				t.Errorf("at rest it has %q, want %q: %t", got, key, tc.hint)
			}
			w.desire(v1alpha1.DesiredRunning)
			w.expectRunning()
		})
	}
}

// A Workspace that was created while the clocks were ahead does not count as new for that long.
func TestAStatusThatIsLostAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	w := archivedLongAgo(t)
	w.clock.SetTime(epoch.Add(-24 * time.Hour))
	w.edit(func(s *v1alpha1.WorkspaceStatus) { *s = v1alpha1.WorkspaceStatus{} })
	w.desire(v1alpha1.DesiredRunning)
	w.expectRunning()
}

// A store that does not answer cannot say that there is no archive.
func TestNoEmptyHomeBeforeTheStoreHasAnswered(t *testing.T) {
	t.Parallel()
	w := archivedLongAgo(t)
	w.edit(func(s *v1alpha1.WorkspaceStatus) { s.ArchiveKey, s.Archive = "", nil })
	w.update(os.Rename(w.bucket, w.bucket+".away"))
	w.desire(v1alpha1.DesiredRunning)
	w.newEvents()
	for range 5 {
		w.update(w.pass())
		w.clock.SetTime(w.clock.Now().Add(w.wait))
	}
	status, got := w.workspace().Status, strings.Join(w.newEvents(), "\n")
	ready, archive := meta.FindStatusCondition(status.Conditions, "Ready"), meta.FindStatusCondition(status.Conditions, "ArchiveReady")
	if ready.Reason != v1alpha1.ReasonBucketMissing || archive.Status != metav1.ConditionUnknown || archive.Reason != v1alpha1.ReasonBucketMissing {
		t.Errorf("Ready %+v, ArchiveReady %+v", ready, archive)
	}
	if w.has("ws-home-home", &corev1.PersistentVolumeClaim{}) || strings.Count(got, "BucketMissing") != 1 || status.ObservedGeneration != w.workspace().Generation {
		t.Errorf("it continued without knowing whether there is an archive: %+v\n%s", status, got)
	}
	w.update(os.Rename(w.bucket+".away", w.bucket))
	w.expectRunning()
}

// A hint to a missing archive is followed once, and ignored afterwards.
func TestAHintThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	w := archivedLongAgo(t)
	for _, name := range w.archives() {
		w.update(os.Remove(name))
	}
	w.edit(func(s *v1alpha1.WorkspaceStatus) { s.ArchiveKey = "" })
	w.converge()
	if status := w.workspace().Status; status.Archive != nil || status.DisplayState != "PENDING" {
		t.Errorf("%+v", status)
	}
}

// A user who accepts the loss of the newest archive gets an empty home, as documented, and not an older archive that may
// still exist.
func TestAnAcceptedLossIsNotReplacedByAnOlderArchive(t *testing.T) {
	t.Parallel()
	w := archivedLongAgo(t)
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	key := w.workspace().Status.ArchiveKey
	w.update(os.Remove(filepath.Join(w.bucket, filepath.FromSlash(key))))
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.expectError(v1alpha1.FailureReason(lifecycle.DataLost), lifecycle.CodeArchiveLost)
	w.annotate(objects.AnnotationAcceptLoss, key)
	w.converge()
	w.expectState("RUNNING")
	w.empty()
}

// A home is begun without its store if there is none, if it is to be empty, or if it was known before that there is no archive.
func TestAHomeThatNeedsNoStore(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*v1alpha1.Workspace){
		func(ws *v1alpha1.Workspace) { ws.Spec.RestoreFrom = lifecycle.FromNothing },
		func(ws *v1alpha1.Workspace) { ws.Spec.Archive = nil },
	} {
		young := newWorld(t, aWorkspace(change))
		young.update(os.RemoveAll(young.bucket))
		young.converge()
		young.expectState("RUNNING")
	}

	old := newWorld(t, aWorkspace(func(ws *v1alpha1.Workspace) { ws.Spec.DesiredState = v1alpha1.DesiredPending }))
	old.converge()
	old.update(old.server.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: storeName}}))
	old.clock.SetTime(old.clock.Now().Add(time.Hour))
	old.desire(v1alpha1.DesiredRunning)
	old.converge()
	old.expectState("RUNNING")
}
