package workspace

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/mover"
)

// W66: what is not in the archive is in the status and an event, and what was not restored is in an event.
func TestWhatIsLeftOutIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace())
	w.converge()
	w.update(syscall.Mkfifo(filepath.Join(w.diskOf(w.pvc()), "home", "pipe"), 0o600))
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	const want = `1 pipe ("pipe": pipe)`
	status := w.workspace().Status
	if status.Archive == nil || status.Archive.LeftOut != want {
		t.Errorf("the status says %+v, want %s", status.Archive, want)
	}
	said := func(reason, text string) {
		t.Helper()
		events := w.newEvents()
		if !slices.ContainsFunc(events, func(event string) bool { return strings.Contains(event, reason) && strings.Contains(event, text) }) {
			t.Errorf("no event %s with %s in:\n%s", reason, text, strings.Join(events, "\n"))
		}
	}
	said("Normal Archived", "left out: "+want)
	w.ended = func(result *mover.Result) {
		result.LeftOut, result.LeftOutCount, result.LeftOutKinds = []string{"\"a\": owner 0:0\nReady\x1b[2J"}, 2, map[string]int64{"owner": 2}
	}
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.expectState("RUNNING")
	said("Warning RestoredInPart", `without 2 owners ("a": owner 0:0?Ready?[2J)`)
}
