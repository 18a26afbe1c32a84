package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/wsobject"
)

// deletedWorld is a world whose Workspace was deleted with its home archived, and the key of the archive.
func deletedWorld(t *testing.T) (w *world, key string) {
	t.Helper()
	w = inStandby(t, policy(v1alpha1.DeletionArchive))
	w.update(w.server.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace}}))
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	key = w.workspace().Status.ArchiveKey
	w.remove()
	w.newEvents()
	return w, key
}

// apply creates the Workspace again.
func (w *world) apply(change ...func(*v1alpha1.Workspace)) {
	w.Helper()
	ws := aWorkspace(append([]func(*v1alpha1.Workspace){func(ws *v1alpha1.Workspace) {
		ws.UID, ws.CreationTimestamp.Time = "77777777-6f0c-4a53-9a2b-0d6c8c0f6b11", w.clock.Now()
	}}, change...)...)
	w.update(w.server.Create(w.Context(), ws))
}

func restoreFrom(from string) func(*v1alpha1.Workspace) {
	return func(ws *v1alpha1.Workspace) { ws.Spec.RestoreFrom = from }
}

// The same YAML applied again after a deletion continues with the home, and says so. Nothing in the store is touched.
func TestAWorkspaceThatIsAppliedAgain(t *testing.T) { // W67
	t.Parallel()
	for _, named := range []bool{false, true} {
		w, key := deletedWorld(t)
		before := w.archives()
		from := ""
		if named {
			from = key
		}
		w.apply(restoreFrom(from))
		w.expectRunning()
		if events := strings.Join(w.newEvents(), "\n"); !strings.Contains(events, "ArchiveFound The home begins with archive "+key) {
			t.Errorf("no event names the archive:\n%s", events)
		}
		ready := meta.FindStatusCondition(w.workspace().Status.Conditions, v1alpha1.ConditionVolumeReady)
		if !strings.Contains(ready.Message, "which was restored from archive "+key) {
			t.Errorf("no condition names the archive: %+v", ready)
		}
		for _, name := range before {
			if _, err := os.Stat(name); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAnEmptyHomeAfterADeletion(t *testing.T) {
	t.Parallel()
	w, _ := deletedWorld(t)
	w.apply(restoreFrom(lifecycle.FromNothing))
	w.converge()
	w.expectState("RUNNING")
	w.empty()
}

// While the archive that is to be restored is not there, nothing is created, and the conditions say what to do.
func TestAnArchiveThatIsNotThere(t *testing.T) { // W68, W70
	t.Parallel()
	for name, tc := range map[string]struct {
		from   func(w *world, key string) string
		reason string
	}{
		"the latest": {func(w *world, key string) string {
			w.update(os.RemoveAll(filepath.Join(w.bucket, "archives", "named")))
			return lifecycle.FromLatest
		}, v1alpha1.ReasonArchiveNotFound},
		"a key": {func(*world, string) string {
			return lifecycle.ArchiveKey("11111111-6f0c-4a53-9a2b-0d6c8c0f6b11", "22222222-6f0c-4a53-9a2b-0d6c8c0f6b11")
		}, v1alpha1.ReasonArchiveNotFound},
		"a foreign": {func(w *world, key string) string { w.giveTo("other/home", key); return key }, v1alpha1.ReasonArchiveForeign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, key := deletedWorld(t)
			w.apply(restoreFrom(tc.from(w, key)))
			for range 5 {
				w.update(w.pass())
				w.clock.SetTime(w.clock.Now().Add(w.wait))
			}
			conditions := w.workspace().Status.Conditions
			ready, archived := meta.FindStatusCondition(conditions, "Ready"), meta.FindStatusCondition(conditions, "ArchiveReady")
			if ready.Reason != tc.reason || archived.Reason != tc.reason || !strings.Contains(ready.Message, "kyklos workspace archives -n team home") {
				t.Errorf("Ready %+v, ArchiveReady %+v", ready, archived)
			}
			if events := strings.Join(w.newEvents(), "\n"); strings.Count(events, tc.reason) != 1 || w.has("ws-home-home", &corev1.PersistentVolumeClaim{}) {
				t.Errorf("the volume exists, or not one event:\n%s", events)
			}
			w.change(restoreFrom(lifecycle.FromNothing))
			w.converge()
			w.expectState("RUNNING")
			w.empty()
		})
	}
}

// giveTo changes whose archive it is, as its marker says.
func (w *world) giveTo(workspace, name string) {
	w.Helper()
	key, err := archive.ParseKey(name)
	w.update(err)
	path := filepath.Join(w.bucket, filepath.FromSlash(key.Marker()))
	text, err := os.ReadFile(path)
	w.update(err)
	w.update(os.Chmod(path, 0o600))
	w.update(os.WriteFile(path, []byte(strings.Replace(string(text), `"team/home"`, `"`+workspace+`"`, 1)), 0o600))
}

// A new Workspace waits for its store, and says how to begin without.
func TestANewWorkspaceWaitsForItsStore(t *testing.T) { // W67
	t.Parallel()
	w, _ := deletedWorld(t)
	w.update(os.Rename(w.bucket, w.bucket+".away"))
	w.apply()
	for range 20 {
		w.update(w.pass())
		w.clock.SetTime(w.clock.Now().Add(w.wait))
	}
	ready := meta.FindStatusCondition(w.workspace().Status.Conditions, "Ready")
	if ready.Reason != v1alpha1.ReasonBucketMissing || !strings.Contains(ready.Message, `{"spec":{"restoreFrom":"empty"}}`) {
		t.Errorf("%+v", ready)
	}
	w.update(os.Rename(w.bucket+".away", w.bucket))
	w.expectRunning()
}

// A volume that was retained is the home of the Workspace that is applied again, without relabelling.
func TestARetainedVolumeIsTheHomeAgain(t *testing.T) { // W67
	t.Parallel()
	w := inStandby(t, policy(v1alpha1.DeletionRetain))
	w.remove()
	w.newEvents()
	uid := w.pvc().UID
	w.apply()
	w.expectRunning()
	if claim := w.pvc(); claim.UID != uid || wsobject.Released(claim) {
		t.Errorf("%+v", claim.ObjectMeta)
	}
	if events := strings.Join(w.newEvents(), "\n"); !strings.Contains(events, "VolumeAdopted") {
		t.Errorf("no event says so:\n%s", events)
	}
}
