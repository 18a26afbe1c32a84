package events

import "fmt"

// Reasons of events on the archive GC's ConfigMap.
const (
	ReasonArchivesDeleted     = "ArchivesDeleted"
	ReasonArchiveGCRefused    = "ArchiveGCRefused"
	ReasonArchiveGCFailed     = "ArchiveGCFailed"
	ReasonArchiveStoreForeign = "ArchiveStoreForeign"
	ReasonArchiveStoreLost    = "ArchiveStoreLost"
)

// EmitArchivesDeleted reports how many archives were deleted, and how many are left in the store.
func EmitArchivesDeleted(deleted, left int, store string) Event {
	return normal(ReasonArchivesDeleted, "DeleteArchives",
		fmt.Sprintf("Deleted %d archives that no Workspace needed; %d are left in %s", deleted, left, store))
}

// EmitArchiveGCRefused reports that nothing was deleted because it would have been too much, and how to approve it.
// nobody: there are no Workspaces.
func EmitArchiveGCRefused(store string, due, all int, nobody bool, namespace, annotation string) Event {
	why := fmt.Sprintf("no Workspace needs %d of %d archives in %s, which is more than half", due, all, store)
	if nobody {
		why = fmt.Sprintf("there are no Workspaces, but %d archives in %s", all, store)
	}
	return warning(ReasonArchiveGCRefused, "KeepArchives", fmt.Sprintf(
		"Nothing was deleted: %s; if that is right, run: kubectl annotate -n %s configmap kyklos-archive-gc --overwrite %s", why, namespace, annotation))
}

// EmitArchiveGCFailed reports why the work on a store ended.
func EmitArchiveGCFailed(store string, err error) Event {
	return warning(ReasonArchiveGCFailed, "KeepArchives",
		fmt.Sprintf("Unneeded archives in %s are kept for now: %v", store, err))
}

// EmitArchiveStoreForeign reports that the archives belong to another installation, according to the object owner.
func EmitArchiveStoreForeign(store, owner string) Event {
	return warning(ReasonArchiveStoreForeign, "KeepArchives", fmt.Sprintf(
		"Archives in %s are never deleted: its object %s names another installation of Kyklos; give each installation its own prefix, or delete that object if the other installation is gone", store, owner))
}

// EmitArchiveStoreLost reports that no Secret gives access to a store any more.
func EmitArchiveStoreLost(store string) Event {
	return warning(ReasonArchiveStoreLost, "KeepArchives", fmt.Sprintf(
		"No Secret gives access to %s any more: its archives are kept until you delete them or restore a Secret; after 30 days Kyklos forgets the store", store))
}
