package events_test

import (
	"errors"
	"testing"

	"kyklos.io/kyklos/internal/events"
)

func TestTheArchiveGCsEvents(t *testing.T) {
	for want, ev := range map[string]events.Event{
		"Normal ArchivesDeleted Deleted 2 archives that no Workspace needed; 40 are left in s3": events.EmitArchivesDeleted(2, 40, "s3"),
		"Warning ArchiveGCRefused Nothing was deleted: 30 of 40 archives in s3 are needed by no Workspace, which is more than half; if that is right, run: kubectl annotate -n kyklos-system configmap kyklos-archive-gc --overwrite a=b": events.EmitArchiveGCRefused("s3", 30, 40, false, "kyklos-system", "a=b"),
		"Warning ArchiveGCRefused Nothing was deleted: there is no Workspace at all that could need one of the 40 archives in s3; if that is right, run: kubectl annotate -n kyklos-system configmap kyklos-archive-gc --overwrite a=b":   events.EmitArchiveGCRefused("s3", 40, 40, true, "kyklos-system", "a=b"),
		"Warning ArchiveGCFailed Archives in s3 that nobody needs stay for now: no answer":                                                                                                                   events.EmitArchiveGCFailed("s3", errors.New("no answer")),
		"Warning ArchiveStoreForeign Nothing is ever deleted in s3: its object .kyklos-owner names another installation of Kyklos; give each its own prefix, or delete that object if the other one is gone": events.EmitArchiveStoreForeign("s3", ".kyklos-owner"),
		"Warning ArchiveStoreLost No Secret leads to s3 any more: the archives there stay until you delete them, or bring a Secret back; after 30 days the store is forgotten":                               events.EmitArchiveStoreLost("s3"),
	} {
		if got := ev.Type + " " + ev.Reason + " " + ev.Note; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
