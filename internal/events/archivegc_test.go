package events_test

import (
	"errors"
	"testing"

	"kyklos.io/kyklos/internal/events"
)

func TestTheArchiveGCsEvents(t *testing.T) {
	for want, ev := range map[string]events.Event{
		"Normal ArchivesDeleted Deleted 2 archives that no Workspace needed; 40 are left in s3":                                                                                                                                       events.EmitArchivesDeleted(2, 40, "s3"),
		"Warning ArchiveGCRefused Nothing was deleted: no Workspace needs 30 of 40 archives in s3, which is more than half; if that is right, run: kubectl annotate -n kyklos-system configmap kyklos-archive-gc --overwrite a=b":     events.EmitArchiveGCRefused("s3", 30, 40, false, "kyklos-system", "a=b"),
		"Warning ArchiveGCRefused Nothing was deleted: there are no Workspaces, but 40 archives in s3; if that is right, run: kubectl annotate -n kyklos-system configmap kyklos-archive-gc --overwrite a=b":                          events.EmitArchiveGCRefused("s3", 40, 40, true, "kyklos-system", "a=b"),
		"Warning ArchiveGCFailed Unneeded archives in s3 are kept for now: no answer":                                                                                                                                                 events.EmitArchiveGCFailed("s3", errors.New("no answer")),
		"Warning ArchiveStoreForeign Archives in s3 are never deleted: its object .kyklos-owner names another installation of Kyklos; give each installation its own prefix, or delete that object if the other installation is gone": events.EmitArchiveStoreForeign("s3", ".kyklos-owner"),
		"Warning ArchiveStoreLost No Secret gives access to s3 any more: its archives are kept until you delete them or restore a Secret; after 30 days Kyklos forgets the store":                                                     events.EmitArchiveStoreLost("s3"),
	} {
		if got := ev.Type + " " + ev.Reason + " " + ev.Note; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
