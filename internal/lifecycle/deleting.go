package lifecycle

import (
	"slices"
	"time"
)

// remove begins the deletion. It waits for nothing but the ends of Jobs; an operation on its way up
// has nothing to save (D13).
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
	e.begin(Removing)
	e.out.Status.Phase = Deleting
	if e.Workspace.DeletionPolicy == ArchiveHome && e.home() {
		e.out.Code = CodeDeletionUnarchived
	}
	return true
}

// leadsUp reports whether the claimed operation leads up, away from the archive.
func (e *evaluation) leadsUp() bool {
	return e.op() == Provisioning || e.op() == Restoring || e.op() == Starting
}

// archiveFirst reports whether a home has to be archived before the deletion. In a namespace that is
// going nothing can be made, so there it is not (D24).
func (e *evaluation) archiveFirst() bool {
	making := e.op() == Provisioning || e.op() == Restoring
	return e.Workspace.DeletionPolicy == ArchiveHome && !e.Workspace.NamespaceTerminating &&
		(e.home() || !making && (e.unrecorded() || e.condemned()) || e.op() == Archiving)
}

// condemned reports whether the volume still holds the home that went into the archive.
func (e *evaluation) condemned() bool {
	volume := e.Observed.Volume
	return volume.own() && volume.Marker.Content != "" && volume.UID == e.Status.Archive.VolumeUID && !e.home()
}

// deleting deletes Pod, Jobs and volume, one after the other, each gone before the next: a Pod holds
// its volume even when it has ended (D18).
func (e *evaluation) deleting() bool {
	if e.op() != Removing {
		return false
	}
	if changed := e.archiveFirst() && e.Observed.Volume.usable(); changed || !e.Workspace.Deleting { // or a status out of a backup
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
			e.act(CodeDeleting, Action{Kind: ActRemoveFinalizer})
		}
	case volume.State == VolumeTerminating:
		e.wait(CodeVolumeTerminating, time.Time{})
	case e.Workspace.DeletionPolicy == RetainHome && (e.home() || e.unrecorded() || e.condemned()):
		e.act(CodeDeleting, Action{Kind: ActReleaseVolume, UID: volume.UID})
	default:
		e.act(CodeDeleting, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
	}
	e.slow = e.Now.After(operation.AttemptStartedAt.Add(e.limit(Removing)))
	if e.slow && !slices.Contains([]Code{CodeStoreUnreachable, CodeBucketMissing, CodeArchiveElsewhere}, e.out.Code) {
		e.out.Code = CodeDeletionSlow // a store that is waited for says more
	}
	return true
}

// keepArchive marks the archive that the deletion leaves behind, or the collection would take it with
// the others. It reports false when there is nothing to mark. A namespace that is going is not held up:
// the store's Secret is mostly gone with it.
func (e *evaluation) keepArchive() bool {
	if e.Workspace.DeletionPolicy != ArchiveHome && e.Workspace.DeletionPolicy != RetainHome || !e.Status.archived() || !e.Workspace.HasStore {
		return false
	}
	verdict, known := e.verdict(e.Status.ArchiveKey)
	if !known {
		return true
	}
	if code, away := verdict.storeAway(); away {
		return !e.Workspace.NamespaceTerminating && e.wait(code, e.Now.Add(retryPace))
	}
	if verdict != Verified {
		return e.unkept(lossOf(verdict))
	}
	return !e.Archive.Kept && e.act(CodeDeleting, Action{Kind: ActKeepArchive, Key: e.Status.ArchiveKey})
}

// unkept writes down, once, that the archive which was to be left behind is lost: what is written is told. The
// deletion goes on.
func (e *evaluation) unkept(code Code) bool {
	if last := e.Status.Error; last.Operation == Removing && last.Code == code {
		return false
	}
	e.out.Status.Error = Failure{Reason: DataLost, Operation: Removing, Code: code, OccurredAt: e.Now}
	e.out.Code = code
	return true
}
