package lifecycle

import "time"

// keepArchive marks the archive that the deletion keeps, so that the collection does not delete it. It reports false if there
// is nothing to mark. A terminating namespace is not blocked: usually the store's Secret is already gone.
func (e *evaluation) keepArchive() bool {
	if e.Workspace.DeletionPolicy != ArchiveHome && e.Workspace.DeletionPolicy != RetainHome || !e.Status.archived() || !e.Workspace.HasStore {
		return false
	}
	verdict, known := e.verdict(e.Status.ArchiveKey)
	if !known {
		return true
	}
	if code, away := verdict.unavailable(); away {
		return !e.Workspace.NamespaceTerminating && e.wait(code, e.Now.Add(retryPace))
	}
	if verdict != Verified {
		return e.keepLost(lossOf(verdict))
	}
	if e.reportedLost() { // it came back
		e.out.Status.Error, e.out.Code = Failure{}, CodeDeleting
		return true
	}
	return !e.Archive.Kept && e.act(CodeDeleting, Action{Kind: ActKeepArchive, Key: e.Status.ArchiveKey})
}

// keepLost waits for an archive to keep that is not there: it may come back, and only a person can give it up (W99). The deletion
// goes on without it where nothing can wait, or if the home stays on its volume.
func (e *evaluation) keepLost(code Code) bool {
	reported := e.reportedLost() && e.Status.Error.Code == code
	switch {
	case e.Workspace.AcceptedLoss == e.Status.ArchiveKey:
		if e.reportedLost() {
			e.out.Status.Error, e.out.Code = Failure{}, CodeLossAccepted
			return true
		}
		return false
	case e.Workspace.NamespaceTerminating, e.Observed.Volume.own(): // and so released
		if reported {
			return false
		}
	default:
		e.held = true
		if reported {
			return e.wait(code, e.Now.Add(retryPace))
		}
	}
	e.out.Status.Error = Failure{Reason: DataLost, Operation: Removing, Code: code, OccurredAt: e.Now}
	return e.wait(code, time.Time{})
}

// reportedLost reports whether the status says that the archive to keep is lost.
func (e *evaluation) reportedLost() bool {
	last := e.Status.Error
	return last.Operation == Removing && last.Reason == DataLost
}

// unnames reports whether the deletion ends what was kept under the name: the home that began with it is deleted, and no older copy
// of it may take its place (W101). One that began with something else leaves it alone.
func (e *evaluation) unnames() bool {
	from := e.Workspace.RestoreFrom
	return e.Workspace.DeletionPolicy == DeleteHome && e.Workspace.HasStore && (from == "" || from == FromLatest)
}
