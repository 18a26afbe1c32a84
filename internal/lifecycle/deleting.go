package lifecycle

import (
	"slices"
	"time"
)

// remove begins the deletion. It waits for nothing but the ends of Jobs; an operation on its way up
// has nothing to save (D13).
func (l *look) remove() bool {
	if !l.Workspace.Deleting || l.op() == Removing {
		return false
	}
	if !l.Workspace.Finalizer {
		l.out.Word = WordDeleted
		return true
	}
	first := l.archiveFirst()
	if first && !l.goesUp() {
		return false
	}
	if l.endJobs() {
		return true
	}
	if first {
		l.out.Status.Operation = Claim{Type: None}
		l.out.Word = WordDeleting
		return true
	}
	l.claim(Removing)
	l.out.Status.Phase = Deleting
	if l.Workspace.DeletionPolicy == ArchiveHome && l.home() {
		l.out.Word = WordDeletionUnarchived
	}
	return true
}

// goesUp reports whether the claimed operation leads up, away from the archive.
func (l *look) goesUp() bool {
	return l.op() == Provisioning || l.op() == Restoring || l.op() == Starting
}

// archiveFirst reports whether a home has to be archived before the deletion. In a namespace that is
// going nothing can be made, so there it is not (D24).
func (l *look) archiveFirst() bool {
	making := l.op() == Provisioning || l.op() == Restoring
	return l.Workspace.DeletionPolicy == ArchiveHome && !l.Workspace.NamespaceTerminating &&
		(l.home() || !making && (l.unrecorded() || l.condemned()) || l.op() == Archiving)
}

// condemned reports whether the volume still holds the home that went into the archive.
func (l *look) condemned() bool {
	volume := l.Seen.Volume
	return volume.own() && volume.Marker.Content != "" && volume.UID == l.Status.Archive.VolumeUID && !l.home()
}

// deleting deletes Pod, Jobs and volume, one after the other, each gone before the next: a Pod holds
// its volume even when it has ended (D18).
func (l *look) deleting() bool {
	if l.op() != Removing {
		return false
	}
	if changed := l.archiveFirst() && l.Seen.Volume.usable(); changed || !l.Workspace.Deleting { // or a status out of a backup
		l.out.Status.Operation = Claim{Type: None}
		if l.out.Word = WordDeleting; !changed {
			l.out.Word = WordRecovered
		}
		return true
	}
	claim, volume := l.Status.Operation, l.Seen.Volume
	switch {
	case l.endPod(), l.endJobs():
	case !volume.own(), volume.Released:
		if !l.keepArchive() {
			l.act(WordDeleting, Action{Kind: ActRemoveFinalizer})
		}
	case volume.State == VolumeTerminating:
		l.wait(WordVolumeTerminating, time.Time{})
	case l.Workspace.DeletionPolicy == RetainHome && (l.home() || l.unrecorded() || l.condemned()):
		l.act(WordDeleting, Action{Kind: ActReleaseVolume, UID: volume.UID})
	default:
		l.act(WordDeleting, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
	}
	l.slow = l.Now.After(claim.AttemptStartedAt.Add(l.limit(Removing)))
	if l.slow && !slices.Contains([]Word{WordStoreUnreachable, WordBucketMissing, WordArchiveElsewhere}, l.out.Word) {
		l.out.Word = WordDeletionSlow // a store that is waited for says more
	}
	return true
}

// keepArchive marks the archive that the deletion leaves behind, or the collection would take it with
// the others. It reports false when there is nothing to mark. A namespace that is going is not held up:
// the store's Secret is mostly gone with it.
func (l *look) keepArchive() bool {
	if l.Workspace.DeletionPolicy != ArchiveHome && l.Workspace.DeletionPolicy != RetainHome || !l.Status.archived() || !l.Workspace.HasStore {
		return false
	}
	verdict, known := l.verdict(l.Status.ArchiveKey)
	if !known {
		return true
	}
	if word, away := verdict.storeAway(); away {
		return !l.Workspace.NamespaceTerminating && l.wait(word, l.Now.Add(retryPace))
	}
	if verdict != Verified {
		return l.unkept(lossOf(verdict))
	}
	return !l.Archive.Kept && l.act(WordDeleting, Action{Kind: ActKeepArchive, Key: l.Status.ArchiveKey})
}

// unkept writes down, once, that the archive which was to be left behind is lost: what is written is told. The
// deletion goes on.
func (l *look) unkept(word Word) bool {
	if last := l.Status.Error; last.Operation == Removing && last.Word == word {
		return false
	}
	l.out.Status.Error = Failure{Reason: DataLost, Operation: Removing, Word: word, OccurredAt: l.Now}
	l.out.Word = word
	return true
}
