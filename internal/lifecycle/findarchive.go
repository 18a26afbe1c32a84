package lifecycle

import "time"

// newWorkspace is the age below which a Workspace cannot have an archive that its status does not name. A creation
// time further in the future says nothing about the age: a clock was set back.
const newWorkspace = 5 * time.Minute

// recall looks for an archive before the first status is written, and whenever the status without archiveKey hints
// at an archive. A status can be lost, and archiveKey be removed by hand; an empty home in place of the archived one
// would then look like its loss (D6), and the collection would delete the archive.
func (e *evaluation) recall() bool {
	first := e.given.Phase == ""
	if first && e.isNew() || !first && (e.Status.Phase != Pending || !e.hint()) {
		return false
	}
	return e.findArchive()
}

// findArchive asks for the newest archive in the store if the status names none, and follows the answer. It reports
// false if there is no archive. Nothing is decided while the store does not answer.
func (e *evaluation) findArchive() bool {
	if !e.Workspace.HasStore || e.Workspace.Deleting || e.Observed.Volume.own() || e.homeLost() || e.Status.archived() {
		return false
	}
	switch found := e.Newest; found.Verdict {
	case Unknown:
		return e.act(CodeWorking, Action{Kind: ActFindArchive})
	case NotConfigured:
		return (e.given.Phase == "" || e.hint()) && e.holdBack(CodeStoreUnreachable) // spec.archive does name a store
	case StoreUnreachable, BucketMissing:
		code, _ := found.Verdict.storeAway()
		return e.holdBack(code)
	case Verified, Corrupt: // the restore of a corrupt archive fails, which is reported
		if found.Key != e.Workspace.AcceptedLoss {
			return e.adoptArchive(found)
		}
	}
	e.Status.Archive, e.out.Status.Archive = Archive{}, Archive{} // a hint that leads nowhere is followed once
	return false
}

func (e *evaluation) isNew() bool { return e.Now.Sub(e.Workspace.CreatedAt).Abs() < newWorkspace }

// hint reports whether a status without archiveKey was not written by Kyklos, which always reports whether there is an
// archive.
func (e *evaluation) hint() bool {
	return e.Status.Archive != Archive{} || e.Workspace.ArchiveReady != False
}

// holdBack changes nothing until it is known whether there is an archive.
func (e *evaluation) holdBack(code Code) bool {
	e.out.Status, e.searched = e.given, true
	if e.given.Phase != "" {
		e.out.Status.ObservedGeneration = e.Workspace.Generation
	}
	return e.wait(code, e.Now.Add(retryPace))
}

// adoptArchive records an archive that the status did not name. It is the home.
func (e *evaluation) adoptArchive(found ArchiveView) bool {
	e.out.Status = Status{
		ObservedGeneration: e.Workspace.Generation, Phase: Pending, Operation: Operation{Type: None},
		ArchiveKey: found.Key, Archive: found.Archive, RetryToken: e.Workspace.RetryToken,
	}
	e.out.Status.Archive.Store = found.Store
	e.out.Code, e.searched = CodeAdopted, true
	return true
}
