package events

import "fmt"

// The reasons of events on the ConfigMap of the archive GC.
const (
	ReasonArchivesDeleted     = "ArchivesDeleted"
	ReasonArchiveGCRefused    = "ArchiveGCRefused"
	ReasonArchiveGCFailed     = "ArchiveGCFailed"
	ReasonArchiveStoreForeign = "ArchiveStoreForeign"
	ReasonArchiveStoreLost    = "ArchiveStoreLost"
)

// EmitArchivesDeleted says how many archives went, and how many are left in the store.
func EmitArchivesDeleted(deleted, left int, store string) Event {
	return normal(ReasonArchivesDeleted, "DeleteArchives",
		fmt.Sprintf("Deleted %d archives that no Workspace needed; %d are left in %s", deleted, left, store))
}

// EmitArchiveGCRefused says that nothing was deleted because too much would have gone, and how to allow
// it. nobody: there is no Workspace at all.
func EmitArchiveGCRefused(store string, due, all int, nobody bool, namespace, annotation string) Event {
	why := fmt.Sprintf("%d of %d archives in %s are needed by no Workspace, which is more than half", due, all, store)
	if nobody {
		why = fmt.Sprintf("there is no Workspace at all that could need one of the %d archives in %s", all, store)
	}
	return warning(ReasonArchiveGCRefused, "KeepArchives", fmt.Sprintf(
		"Nothing was deleted: %s; if that is right, run: kubectl annotate -n %s configmap kyklos-archive-gc --overwrite %s", why, namespace, annotation))
}

// EmitArchiveGCFailed says why the look at a store ended.
func EmitArchiveGCFailed(store string, err error) Event {
	return warning(ReasonArchiveGCFailed, "KeepArchives",
		fmt.Sprintf("Archives in %s that nobody needs stay for now: %v", store, err))
}

// EmitArchiveStoreForeign says that the archives are another installation's; owner is the object that
// says so.
func EmitArchiveStoreForeign(store, owner string) Event {
	return warning(ReasonArchiveStoreForeign, "KeepArchives", fmt.Sprintf(
		"Nothing is ever deleted in %s: its object %s names another installation of Kyklos; give each its own prefix, or delete that object if the other one is gone", store, owner))
}

// EmitArchiveStoreLost says that no Secret leads to a store any more.
func EmitArchiveStoreLost(store string) Event {
	return warning(ReasonArchiveStoreLost, "KeepArchives", fmt.Sprintf(
		"No Secret leads to %s any more: the archives there stay until you delete them, or bring a Secret back; after 30 days the store is forgotten", store))
}
