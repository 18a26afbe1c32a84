package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// passes runs some passes, a minute and more apart.
func (w *world) passes(n int) {
	w.Helper()
	for range n {
		_ = w.pass()
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(max(w.wait, time.Minute)))
	}
}

// condition is a condition of the Workspace.
func (w *world) condition(kind string) metav1.Condition {
	w.Helper()
	found := meta.FindStatusCondition(w.workspace().Status.Conditions, kind)
	if found == nil {
		w.Fatalf("there is no condition %s", kind)
	}
	return *found
}

// file is the path of an object in the store.
func (w *world) file(object string) string {
	return filepath.Join(w.bucket, filepath.FromSlash(object))
}

// A deletion that keeps the home waits for an archive that is away, says what can be done, and continues by itself when it is back. The
// home is then found by its name.
func TestADeletionWaitsForAnArchiveThatIsAway(t *testing.T) { // W99
	t.Parallel()
	for _, kept := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionArchive, v1alpha1.DeletionRetain} {
		w := inStandby(t, policy(kept))
		w.update(w.server.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace}}))
		w.desire(v1alpha1.DesiredPending)
		w.converge()
		w.newEvents()
		ws := w.workspace()
		folder := w.file(archive.Root + string(ws.UID))
		w.update(os.Rename(folder, w.bucket+".away"))
		w.update(w.server.Delete(t.Context(), ws))
		w.passes(20)
		ready, stalled := w.condition(v1alpha1.ConditionReady), w.condition(v1alpha1.ConditionStalled)
		if ready.Reason != v1alpha1.ReasonArchiveLost || stalled.Status != metav1.ConditionTrue || stalled.Reason != v1alpha1.ReasonArchiveLost {
			t.Errorf("Ready %+v, Stalled %+v", ready, stalled)
		}
		for _, part := range []string{
			"The deletion waits, because spec.deletionPolicy is " + string(kept), `-p '{"spec":{"deletionPolicy":"Delete"}}'`, "kyklos.io/accept-data-loss=" + ws.Status.ArchiveKey,
		} {
			if !strings.Contains(ready.Message, part) || !strings.Contains(stalled.Message, part) {
				t.Errorf("%q is not in %q or %q", part, ready.Message, stalled.Message)
			}
		}
		if got := strings.Join(w.newEvents(), "\n"); strings.Count(got, "Warning ArchiveLost ") != 1 {
			t.Errorf("events:\n%s", got)
		}
		w.update(os.Rename(w.bucket+".away", folder))
		w.converge()
		if ws := w.workspace(); ws != nil {
			t.Fatalf("it is still there: %+v", ws.Status)
		}
		w.apply()
		w.expectRunning()
	}
}

// What is really lost is given up by a person, in one of two ways.
func TestADeletionWithoutItsArchive(t *testing.T) { // W99
	t.Parallel()
	for _, accept := range []bool{true, false} {
		w := inStandby(t, policy(v1alpha1.DeletionArchive))
		w.update(w.server.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home.Namespace}}))
		w.desire(v1alpha1.DesiredPending)
		w.converge()
		key := w.workspace().Status.ArchiveKey
		w.update(os.Remove(w.file(key)))
		w.update(w.server.Delete(t.Context(), w.workspace()))
		w.passes(5)
		if accept {
			w.annotate(objects.AnnotationAcceptLoss, key)
		} else {
			w.change(policy(v1alpha1.DeletionDelete))
		}
		w.converge()
		if ws := w.workspace(); ws != nil {
			t.Errorf("%t: it is still there: %+v", accept, ws.Status)
		}
		if got := strings.Join(w.newEvents(), "\n"); strings.Contains(got, "LossAccepted The loss of "+key) != accept {
			t.Errorf("%t: %s", accept, got)
		}
	}
}

// uid lets a Workspace that is applied again have a UID of its own.
func uid(of types.UID) func(*v1alpha1.Workspace) {
	return func(ws *v1alpha1.Workspace) { ws.UID = of }
}

const third = types.UID("88888888-6f0c-4a53-9a2b-0d6c8c0f6b11")

// twiceDeleted is a world in which two homes were kept under the name: "work", and then "newer".
func twiceDeleted(t *testing.T) (w *world, older, newer string) {
	t.Helper()
	w, older = deletedWorld(t)
	w.apply(policy(v1alpha1.DeletionArchive))
	w.expectRunning()
	w.write("newer")
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	newer = w.workspace().Status.ArchiveKey
	w.remove()
	w.newEvents()
	before, name := time.Now().Add(-time.Hour), keyOf(w, older).NameMark(home.Namespace, home.Name)
	w.update(os.Chtimes(w.file(name), before, before)) // both deletions may be of the same instant
	return w, older, newer
}

func keyOf(w *world, name string) archive.Key {
	w.Helper()
	key, err := archive.ParseKey(name)
	w.update(err)
	return key
}

// The newest home that was kept is replaced neither by an older one nor by an empty one, if it is incomplete or damaged, unless somebody
// says so.
func TestAKeptArchiveThatIsNotComplete(t *testing.T) { // W100
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil, help func(w *world, older, newer string)
		want        string
	}{
		"the marker comes back": {
			func(w *world, _, newer string) { w.update(os.Rename(w.file(newer+".meta"), w.bucket+".meta")) },
			func(w *world, _, newer string) { w.update(os.Rename(w.bucket+".meta", w.file(newer+".meta"))) }, "newer"},
		"the data are damaged, and an older one will do": {
			func(w *world, _, newer string) { w.update(os.Truncate(w.file(newer), 20)) },
			func(w *world, older, _ string) { w.change(restoreFrom(older)) }, "work"},
		"everything but the name is gone, and it is to be empty": {
			func(w *world, _, newer string) { w.update(os.RemoveAll(filepath.Dir(w.file(newer)))) },
			func(w *world, _, _ string) { w.change(restoreFrom(lifecycle.FromNothing)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, older, newer := twiceDeleted(t)
			tc.spoil(w, older, newer)
			w.apply(uid(third))
			w.passes(20)
			ready, archived := w.condition(v1alpha1.ConditionReady), w.condition(v1alpha1.ConditionArchiveReady)
			if ready.Reason != v1alpha1.ReasonKeptArchiveLost || archived.Status != metav1.ConditionUnknown || archived.Reason != v1alpha1.ReasonKeptArchiveLost {
				t.Errorf("Ready %+v, ArchiveReady %+v", ready, archived)
			}
			for _, part := range []string{newer, `{"spec":{"restoreFrom":"` + older + `"}}`, `{"spec":{"restoreFrom":"empty"}}`} {
				if !strings.Contains(ready.Message, part) {
					t.Errorf("%q is not in %q", part, ready.Message)
				}
			}
			if got := strings.Join(w.newEvents(), "\n"); strings.Count(got, "Warning KeptArchiveLost ") != 1 || w.has("ws-home-home", &corev1.PersistentVolumeClaim{}) {
				t.Errorf("the volume exists, or not one event:\n%s", got)
			}
			tc.help(w, older, newer)
			w.converge()
			w.expectState("RUNNING")
			if tc.want == "" {
				w.empty()
			} else {
				w.expectContent(tc.want)
			}
		})
	}
}
