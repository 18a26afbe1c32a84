package workspace

import (
	"os"
	"strings"
	"testing"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// After a deletion with its home nothing is found by the name, and what was kept on purpose is still there, as an event says.
func TestADeletionWithItsHome(t *testing.T) { // W101
	t.Parallel()
	w, older, newer := twiceDeleted(t)
	w.apply(uid(third), policy(v1alpha1.DeletionDelete))
	w.converge()
	w.expectContent("newer")
	w.newEvents()
	w.remove()
	if got := strings.Join(w.newEvents(), "\n"); strings.Count(got, "Normal KeptArchivesStay ") != 1 || !strings.Contains(got, newer+", "+older) {
		t.Errorf("events:\n%s", got)
	}
	for _, key := range []string{older, newer} {
		if _, err := os.Stat(w.file(keyOf(w, key).KeptMark())); err != nil {
			t.Error(err)
		}
	}
	w.apply(uid("99999999-6f0c-4a53-9a2b-0d6c8c0f6b11"))
	w.converge()
	w.expectState("RUNNING")
	w.empty()
}

// A home that was brought back by its key, and deleted before it was archived anew, is found by the name again.
func TestWhatCameBackByItsKeyIsKeptAgain(t *testing.T) { // W67
	t.Parallel()
	w, key := deletedWorld(t)
	w.apply(policy(v1alpha1.DeletionDelete))
	w.converge()
	w.remove()
	w.apply(uid(third), policy(v1alpha1.DeletionArchive), restoreFrom(key), func(ws *v1alpha1.Workspace) { ws.Spec.DesiredState = v1alpha1.DesiredPending })
	w.converge()
	w.remove()
	w.apply(uid("99999999-6f0c-4a53-9a2b-0d6c8c0f6b11"))
	w.expectRunning()
}

// A Workspace that began with an empty home says nothing about what was kept before.
func TestADeletionOfAnotherHome(t *testing.T) { // W101
	t.Parallel()
	w, _ := deletedWorld(t)
	w.apply(restoreFrom(lifecycle.FromNothing), policy(v1alpha1.DeletionDelete))
	w.converge()
	w.remove()
	if got := strings.Join(w.newEvents(), "\n"); strings.Contains(got, "KeptArchivesStay") {
		t.Errorf("events:\n%s", got)
	}
	w.apply(uid(third))
	w.expectRunning()
}

// A deletion with its home does not wait for its store.
func TestADeletionWithItsHomeWhileTheStoreIsAway(t *testing.T) { // W101
	t.Parallel()
	w, _ := deletedWorld(t)
	w.apply(policy(v1alpha1.DeletionDelete))
	w.expectRunning()
	w.update(os.Rename(w.bucket, w.bucket+".away"))
	w.newEvents()
	w.remove()
	if got := strings.Join(w.newEvents(), "\n"); strings.Count(got, "Warning KeptArchivesStay ") != 1 || !strings.Contains(got, "Cause: ") {
		t.Errorf("events:\n%s", got)
	}
}
