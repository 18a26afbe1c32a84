package workspace

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// While the archive that a deletion keeps is away, the deletion waits. While the one that a new home is to begin with is not complete,
// nothing takes its place. Both continue by themselves. After a deletion with its home nothing is found by the name (W99-W101).
func TestWhatWasKept(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.apply(fixtures.WorkspaceName, "")
	key := s.archive("one")
	object := filepath.Join(store.Folder, filepath.FromSlash(key))
	away := store.Folder + ".away-" + path.Base(path.Dir(key))

	s.Must(os.Rename(filepath.Dir(object), away))
	s.Must(s.Client.Delete(s.Context(), s.Workspace()))
	s.Await("waiting for its archive", func(ws *v1alpha1.Workspace) bool {
		return ws.DeletionTimestamp != nil && meta.IsStatusConditionTrue(ws.Status.Conditions, v1alpha1.ConditionStalled) && s.says(ws, v1alpha1.ReasonArchiveLost)
	})
	s.Must(os.Rename(away, filepath.Dir(object)))
	s.Await("deleted", func(ws *v1alpha1.Workspace) bool { return ws.UID == "" })

	s.Must(os.Rename(object+".meta", away))
	s.apply(fixtures.WorkspaceName, "")
	ws := s.Await("waiting for what was kept", func(ws *v1alpha1.Workspace) bool { return s.says(ws, v1alpha1.ReasonKeptArchiveLost) })
	if ws.Status.Volume != nil || ws.Status.ArchiveKey != "" {
		t.Errorf("it began: %+v", ws.Status)
	}
	s.Must(os.Rename(away, object+".meta"))
	s.holds(s.AwaitSettled(fixtures.Standby), "one", key)

	s.Change(`{"deletionPolicy":"Delete"}`)
	s.Must(s.Client.Delete(s.Context(), s.Workspace()))
	s.Await("deleted", func(ws *v1alpha1.Workspace) bool { return ws.UID == "" })
	s.apply(fixtures.WorkspaceName, "")
	if ws := s.AwaitSettled(fixtures.Standby); ws.Status.Volume.RestoredFrom != "" {
		t.Errorf("an older copy of a deleted home came back: %+v", ws.Status.Volume)
	}
	if _, err := os.Stat(object); err != nil {
		t.Error(err)
	}
}

// says reports whether Ready is false for a reason.
func (s *scenario) says(ws *v1alpha1.Workspace, reason string) bool {
	ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionFalse && ready.Reason == reason
}
