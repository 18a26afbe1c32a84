package lifecycle

import (
	"slices"
	"time"
)

// remove starts the deletion. It waits only for Jobs to end; an operation that leads up has nothing to save (D13).
func (e *evaluation) remove() bool {
	if !e.Workspace.Deleting || e.op() == Removing {
		return false
	}
	if !e.Workspace.Finalizer {
		e.out.Code = CodeDeleted
		return true
	}
	first := e.archiveFirst()
	if first && !e.leadsUp() {
		return false
	}
	if e.endJobs() {
		return true
	}
	if first {
		e.out.Status.Operation = Operation{Type: None}
		e.out.Code = CodeDeleting
		return true
	}
	e.startOperation(Removing)
	e.out.Status.Phase = Deleting
	if e.Workspace.DeletionPolicy == ArchiveHome && e.home() {
		e.out.Code = CodeDeletionUnarchived
	}
	return true
}

// leadsUp reports whether the operation leads up, away from the archive.
func (e *evaluation) leadsUp() bool {
	return e.op() == Provisioning || e.op() == Restoring || e.op() == Starting
}

// archiveFirst reports whether the home must be archived before the deletion. In a terminating namespace this is impossible,
// because nothing can be created (D24).
func (e *evaluation) archiveFirst() bool {
	making := e.op() == Provisioning || e.op() == Restoring
	return e.Workspace.DeletionPolicy == ArchiveHome && !e.Workspace.NamespaceTerminating &&
		(e.home() || !making && (e.unrecorded() || e.holdsArchivedHome()) || e.op() == Archiving)
}

// holdsArchivedHome reports whether the volume still holds the home that was archived.
func (e *evaluation) holdsArchivedHome() bool {
	volume := e.Observed.Volume
	return volume.own() && volume.Marker.Content != "" && volume.UID == e.Status.Archive.VolumeUID && !e.home()
}

// deleting deletes the Pod, the Jobs and the volume, each after the previous one is gone: even a Pod that has ended keeps its
// volume (D18).
func (e *evaluation) deleting() bool {
	if e.op() != Removing {
		return false
	}
	if changed := e.archiveFirst() && e.Observed.Volume.usable(); changed || !e.Workspace.Deleting { // or the status was restored from a backup
		e.out.Status.Operation = Operation{Type: None}
		if e.out.Code = CodeDeleting; !changed {
			e.out.Code = CodeRecovered
		}
		return true
	}
	operation, volume := e.Status.Operation, e.Observed.Volume
	switch {
	case e.endPod(), e.endJobs():
	case !volume.own(), volume.Released:
		if !e.keepArchive() {
			e.act(CodeDeleting, Action{Kind: ActRemoveFinalizer, Unname: e.unnames()})
		}
	case volume.State == VolumeTerminating:
		e.wait(CodeVolumeTerminating, time.Time{})
	case e.Workspace.DeletionPolicy == RetainHome && (e.home() || e.unrecorded() || e.holdsArchivedHome()):
		e.act(CodeDeleting, Action{Kind: ActReleaseVolume, UID: volume.UID})
	default:
		e.act(CodeDeleting, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
	}
	e.slow = e.Now.After(operation.AttemptStartedAt.Add(e.limit(Removing)))
	if e.slow && !e.held && !slices.Contains([]Code{CodeStoreUnreachable, CodeBucketMissing, CodeArchiveElsewhere}, e.out.Code) {
		e.out.Code = CodeDeletionSlow // the code of the store says more
	}
	return true
}
