package s3store

import (
	"errors"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
)

// A ticket of either kind can overwrite its note, with one length, and write nothing else.
func TestNotesBySignedURLs(t *testing.T) {
	store := open(t, configOf(server(t)))
	for _, maxBytes := range []int64{0, 1 << 20} {
		mover := holder(t, issue(t, store, maxBytes))
		for entries := range int64(3) {
			want := archive.Progress{Attempt: "op/1", Step: archive.Unpacking, Entries: entries, OfBytes: maxBytes}
			if err := mover.WriteNote(t.Context(), want.Note()); err != nil {
				t.Fatal(err)
			}
			if got, known, err := archive.ReadNote(t.Context(), store, key, "op/1"); got != want || !known || err != nil {
				t.Errorf("%+v, %t, %v, want %+v", got, known, err, want)
			}
		}
		for _, length := range []int{0, archive.NoteBytes - 1, archive.NoteBytes + 1} {
			if err := mover.WriteNote(t.Context(), make([]byte, length)); err == nil {
				t.Errorf("a note of %d bytes was stored", length)
			}
		}
		for range 2 {
			if err := archive.DropNote(t.Context(), store, key); err != nil {
				t.Error(err)
			}
			if _, err := store.Head(t.Context(), key.Note()); !errors.Is(err, archive.ErrNotFound) {
				t.Errorf("%v, want the note gone", err)
			}
		}
	}
	earlier, err := store.Issue(t.Context(), archive.Order{Key: key, Now: time.Now(), Valid: time.Hour})
	if err != nil || earlier.PutNote != "" {
		t.Errorf("a ticket that was not asked for notes allows them: %v", err)
	}
}
