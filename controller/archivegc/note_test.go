package archivegc

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/filestore"
)

// A mover's progress note is deleted like an upload that was never finished, and with its archive.
// It is not an archive, and keeps none.
func TestNotesOfMovers(t *testing.T) {
	secret := folder(t)
	s := newStage(t, secret).withLedger()
	notes := filestore.New(string(secret[connect.Folder]))
	note := func(key archive.Key) archive.Key {
		t.Helper()
		s.must(notes.WriteNote(t.Context(), key, archive.Progress{Attempt: "op/1"}.Note()))
		return key
	}
	ann, bob := s.workspace("ann"), s.workspace("bob")
	needed := note(s.archive(ann.UID))
	working, err := archive.NewKey(string(bob.UID), uuid.NewString())
	s.must(err)
	note(working)
	s.status(ann, func(status *v1alpha1.WorkspaceStatus) { status.ArchiveKey = needed.Data() })
	s.status(bob, func(status *v1alpha1.WorkspaceStatus) {
		status.Operation = &v1alpha1.Operation{Type: "ARCHIVING", ID: working.OpID}
	})
	orphan := note(s.orphans(1)[0])
	alone, err := archive.NewKey(orphan.UID, uuid.NewString())
	s.must(err)
	note(alone)
	stays := []string{needed.Data(), needed.Marker(), needed.Note(), working.Note()}
	slices.Sort(stays)

	s.cycle(0)
	if got := s.stored(); len(got) != len(stays)+4 {
		t.Errorf("at once %v is left", got)
	}
	s.cycle(2 * time.Hour)
	s.cycle(2 * time.Hour)
	if got := s.stored(); !slices.Equal(got, stays) {
		t.Errorf("%v is left, want %v", got, stays)
	}
	s.status(bob, func(status *v1alpha1.WorkspaceStatus) { status.Operation = nil })
	s.cycle(2 * time.Hour)
	s.cycle(2 * time.Hour)
	if got := s.stored(); slices.Contains(got, working.Note()) || !s.has(needed) {
		t.Errorf("when no mover runs: %v", got)
	}
	if err := archive.Discard(t.Context(), s.store, needed); err != nil || len(s.stored()) > 0 {
		t.Errorf("%v, %v is left", err, s.stored())
	}
}
