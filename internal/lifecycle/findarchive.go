package lifecycle

import (
	"strings"
	"time"
)

// newWorkspace is the age below which a Workspace cannot have an unrecorded archive. A creation time in the future means that
// a clock was set back, so the age is unknown.
const newWorkspace = 5 * time.Minute

// recall searches for an archive before the first status is written, and whenever a status without archiveKey hints at one or
// spec.restoreFrom names one. A status can be lost and archiveKey removed by hand, and a Workspace of this name may have been
// deleted. An empty home in place of the archived one would then appear as its loss (D6, W67), and the collection would delete
// the archive.
func (e *evaluation) recall() bool {
	switch first := e.given.Phase == ""; {
	case first && e.Workspace.RestoreFrom == FromNothing && (e.isNew() || !e.Workspace.Finalizer), e.inherits():
		return false
	case !first && (e.Status.Phase != Pending || !e.hint() && !e.named()):
		return false
	}
	return e.findArchive()
}

// findArchive requests the newest archive in the store if none is recorded, and follows the answer. It reports false if there
// is no archive. Nothing changes while the store does not answer.
func (e *evaluation) findArchive() bool {
	if !e.Workspace.HasStore || e.Workspace.Deleting || e.Observed.Volume.own() || e.homeLost() || e.Status.archived() {
		return false
	}
	switch found := e.Newest; found.Verdict {
	case Unknown:
		return e.act(CodeWorking, Action{Kind: ActFindArchive})
	case NotConfigured:
		if e.given.Phase == "" || e.hint() || e.named() { // spec.archive names a store
			return e.holdBack(CodeStoreUnreachable)
		}
	case StoreUnreachable, BucketMissing:
		code, _ := found.Verdict.unavailable()
		return e.holdBack(code)
	case NotOurs:
		return e.holdBack(CodeArchiveForeign)
	case KeptLost: // it is neither empty nor older (W100)
		if found.Key != e.Workspace.AcceptedLoss || e.named() {
			return e.holdBack(CodeKeptArchiveLost)
		}
	case Verified, Corrupt: // restoring a corrupt archive fails, which is reported
		if found.Key != e.Workspace.AcceptedLoss || e.named() {
			return e.adoptArchive(found)
		}
	default:
		if e.named() {
			return e.holdBack(CodeArchiveNotFound)
		}
	}
	e.Status.Archive, e.out.Status.Archive = Archive{}, Archive{} // a wrong hint is followed once
	return false
}

func (e *evaluation) isNew() bool { return e.Now.Sub(e.Workspace.CreatedAt).Abs() < newWorkspace }

// hint reports whether the status hints at an archive without naming it. A status written by Kyklos always reports whether
// there is one.
func (e *evaluation) hint() bool {
	return e.Status.Archive != Archive{} || e.Workspace.ArchiveReady != False
}

// holdBack changes nothing until it is known whether there is an archive. A volume that a person chose is the home without it (W78).
func (e *evaluation) holdBack(code Code) bool {
	if e.chosen() && !e.Workspace.Pause {
		return false
	}
	e.out.Status, e.searched = e.given, true
	if e.given.Phase != "" {
		e.out.Status.ObservedGeneration = e.Workspace.Generation
	}
	return e.wait(code, e.Now.Add(retryPace))
}

// adoptArchive records the archive that was found. It is the home, also if another Workspace made it: nothing writes to an
// archive or deletes it as long as a status names it.
func (e *evaluation) adoptArchive(found ArchiveView) bool {
	e.out.Status = Status{
		ObservedGeneration: e.Workspace.Generation, Phase: Pending, Operation: Operation{Type: None},
		ArchiveKey: found.Key, Archive: found.Archive, RetryToken: e.Workspace.RetryToken,
	}
	e.out.Status.Archive.Store = found.Store
	e.out.Code, e.searched = CodeArchiveFound, true
	if strings.HasPrefix(found.Key, "archives/"+e.Workspace.UID+"/") {
		e.out.Code = CodeAdopted
	}
	return true
}
