package events_test

import (
	"errors"
	"testing"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/golden"
)

func TestTheArchiveGCsEvents(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		ev           events.Event
		kind, reason string
	}{
		"deleted":       {events.EmitArchivesDeleted(2, 40, "s3"), "Normal", "ArchivesDeleted"},
		"most":          {events.EmitArchiveGCRefused("s3", 30, 40, false, "kyklos-system", "a=b"), "Warning", "ArchiveGCRefused"},
		"no Workspaces": {events.EmitArchiveGCRefused("s3", 40, 40, true, "kyklos-system", "a=b"), "Warning", "ArchiveGCRefused"},
		"failed":        {events.EmitArchiveGCFailed("s3", errors.New("no answer")), "Warning", "ArchiveGCFailed"},
		"foreign":       {events.EmitArchiveStoreForeign("s3", ".kyklos-owner"), "Warning", "ArchiveStoreForeign"},
		"lost":          {events.EmitArchiveStoreLost("s3"), "Warning", "ArchiveStoreLost"},
	} {
		if tc.ev.Type != tc.kind || tc.ev.Reason != tc.reason {
			t.Errorf("%s: got %+v, want %s %s", name, tc.ev, tc.kind, tc.reason)
		}
		messages.Add(name, tc.ev.Note)
	}
}
