package lifecycle_test

import (
	"testing"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// until runs only the controller until a condition holds.
func (h *history) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 20 {
		if is() {
			return
		}
		h.controllers[0].decide(h.world, h.snapshot())
		h.controllers[0].commit(h.world)
		h.now = h.now.Add(2 * time.Second)
	}
	t.Fatalf("never %s\n%s", what, h.transcript())
}

// used is a history of a home with written files.
func used(t *testing.T) *history {
	t.Helper()
	h := quiet(lifecycle.Decide)
	h.trace(t)
	h.write()
	return h
}

// TestADyingVolumeIsArchivedToTheEnd: only the mover's Pod still keeps the volume. A user who wants the home back
// then gets it from the archive.
func TestADyingVolumeIsArchivedToTheEnd(t *testing.T) {
	h := used(t)
	h.want(lifecycle.Standby)
	h.trace(t)
	h.want(lifecycle.Pending)
	h.until(t, "a mover", func() bool { return len(h.jobs) > 0 })
	h.vol.state, h.excused = lifecycle.VolumeTerminating, true // a user deletes it
	h.want(lifecycle.Running)
	h.trace(t)
	if h.vol == nil || h.vol.version != 1 || h.pod == nil {
		t.Errorf("the home is not back:\n%s", h.transcript())
	}
}

// TestAPolicyCanBeChangedWhileThePodEnds: the volume is still there, so it can still be archived.
func TestAPolicyCanBeChangedWhileThePodEnds(t *testing.T) {
	h := used(t)
	h.ws.Deleting = true
	h.rv++
	h.until(t, "a Pod that ends", func() bool { return h.pod.state == lifecycle.PodTerminating })
	h.ws.DeletionPolicy = lifecycle.ArchiveHome
	h.ws.Generation++
	h.rv++
	h.trace(t)
	if kept := h.objects[h.saved.ArchiveKey]; !h.gone || kept == nil || !kept.kept || kept.version != 1 {
		t.Errorf("the home is not left behind in an archive:\n%s", h.transcript())
	}
}

// TestAnArchiveIsKeptWhereTheNamespaceGoes: it existed before, and nothing has to be created for it. A store
// that does not answer delays nothing.
func TestAnArchiveIsKeptWhereTheNamespaceGoes(t *testing.T) {
	for _, up := range []bool{true, false} {
		h := used(t)
		h.want(lifecycle.Pending)
		h.trace(t)
		h.storeUp = up
		h.ws.Deleting, h.ws.DeletionPolicy, h.ws.NamespaceTerminating = true, lifecycle.ArchiveHome, true
		h.rv++
		h.trace(t)
		if kept := h.objects[h.saved.ArchiveKey].kept; !h.gone || kept != up {
			t.Errorf("the store answers: %t; gone %t, the archive is kept %t", up, h.gone, kept)
		}
	}
}
