package lifecycle

import "time"

// newWorkspace is the age below which a Workspace cannot have an archive that its status does not name. A creation
// time further in the future says nothing about the age: a clock was set back.
const newWorkspace = 5 * time.Minute

// forgotten looks for an archive before the first status is written, and whenever the status without archiveKey hints
// at an archive. A status can be lost, and archiveKey be removed by hand; an empty home in place of the archived one
// would then look like its loss (D6), and the collection would delete the archive.
func (l *look) forgotten() bool {
	first := l.given.Phase == ""
	if first && l.isNew() || !first && (l.Status.Phase != Pending || !l.hint()) {
		return false
	}
	return l.findArchive()
}

// findArchive asks for the newest archive in the store if the status names none, and follows the answer. It reports
// false if there is no archive. Nothing is decided while the store does not answer.
func (l *look) findArchive() bool {
	if !l.Workspace.HasStore || l.Workspace.Deleting || l.Seen.Volume.own() || l.homeLost() || l.Status.archived() {
		return false
	}
	switch found := l.Found; found.Verdict {
	case Unknown:
		return l.act(WordWorking, Action{Kind: ActFindArchive})
	case NotConfigured:
		return (l.given.Phase == "" || l.hint()) && l.holdBack(WordStoreUnreachable) // spec.archive does name a store
	case StoreUnreachable, BucketMissing:
		word, _ := found.Verdict.storeAway()
		return l.holdBack(word)
	case Verified, Corrupt: // the restore of a corrupt archive fails, which is reported
		if found.Key != l.Workspace.AcceptedLoss {
			return l.adoptArchive(found)
		}
	}
	l.Status.Archive, l.out.Status.Archive = Archive{}, Archive{} // a hint that leads nowhere is followed once
	return false
}

func (l *look) isNew() bool { return l.Now.Sub(l.Workspace.CreatedAt).Abs() < newWorkspace }

// hint reports whether a status without archiveKey was not written by Kyklos, which always reports whether there is an
// archive.
func (l *look) hint() bool {
	return l.Status.Archive != Archive{} || l.Workspace.ArchiveReady != False
}

// holdBack changes nothing until it is known whether there is an archive.
func (l *look) holdBack(word Word) bool {
	l.out.Status, l.searched = l.given, true
	if l.given.Phase != "" {
		l.out.Status.ObservedGeneration = l.Workspace.Generation
	}
	return l.wait(word, l.Now.Add(retryPace))
}

// adoptArchive records an archive that the status did not name. It is the home.
func (l *look) adoptArchive(found ArchiveView) bool {
	l.out.Status = Status{
		ObservedGeneration: l.Workspace.Generation, Phase: Pending, Operation: Claim{Type: None},
		ArchiveKey: found.Key, Archive: found.Archive, RetryToken: l.Workspace.RetryToken,
	}
	l.out.Status.Archive.Store = found.Store
	l.out.Word, l.searched = WordAdopted, true
	return true
}
