package lifecycle

import "time"

// archive puts the home away (W23, W25-W29): nobody uses the volume; a Job uploads it; the store is
// asked whether the archive is whole; Job and Pods go; the archive is recorded, and the volume is no
// home any more, in one write; the store is asked again; the volume goes.
func (e *evaluation) archive() bool {
	operation := e.Status.Operation
	if e.Observed.Pod.own() || e.Observed.OtherPods > 0 {
		return e.interrupted()
	}
	if operation.PointOfNoReturn {
		return e.endJobs() || e.deleteArchived() // a manager that was late can have made the Job once more
	}
	job, found := e.job()
	if found && job.State == JobRunning {
		return e.wait(CodeWorking, time.Time{})
	}
	verdict, decided := e.judge(e.key())
	switch {
	case decided:
		return true
	case verdict == Absent && found:
		return e.fail(ActionFailed, CodeArchiveLost)
	case verdict == Absent && e.Observed.Volume.State == VolumeTerminating:
		return e.wait(CodeVolumeTerminating, time.Time{})
	case verdict == Absent:
		return e.runJob(e.key())
	case verdict == Corrupt || !e.current(e.Archive.Archive):
		return e.fail(Mismatch, CodeArchiveCorrupt)
	case found:
		return e.endJob(job)
	default:
		return e.record()
	}
}

// record writes down the verified archive. From here on the archive is the home (D4).
func (e *evaluation) record() bool {
	s := &e.out.Status
	s.ArchiveKey, s.Archive = e.key(), e.Archive.Archive
	s.Archive.Store = e.Archive.Store
	s.Volume.Content = Uninitialized
	s.Operation.PointOfNoReturn = true
	e.out.Code = CodeArchiveReady
	return true
}

// current reports whether a was made of the recorded volume in its present epoch (D2).
func (e *evaluation) current(a Archive) bool {
	return a.VolumeUID == e.Status.Volume.UID && a.Epoch == e.Status.Volume.Epoch
}

// goodArchive reports whether the recorded archive was verified in this look.
func (e *evaluation) goodArchive() bool {
	return e.Archive.Key == e.Status.ArchiveKey && e.Archive.Verdict == Verified &&
		e.Archive.Archive.SHA256 == e.Status.Archive.SHA256 && e.Archive.Archive.Size == e.Status.Archive.Size
}

// deleteArchived deletes the volume after another look into the store (D4).
func (e *evaluation) deleteArchived() bool {
	volume := e.Observed.Volume
	if volume.State == VolumeTerminating {
		return e.wait(CodeVolumeTerminating, time.Time{})
	}
	if _, decided := e.judge(e.Status.ArchiveKey); decided {
		return true
	}
	if !e.goodArchive() || !e.current(e.Status.Archive) || e.home() {
		return e.reprieve()
	}
	return e.act(CodeWorking, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
}

// interrupted deals with Pods that use the volume. What was uploaded meanwhile is void, and so is its
// id: it may be torn, or miss what they write (D3).
func (e *evaluation) interrupted() bool {
	operation := e.Status.Operation
	switch {
	case operation.PointOfNoReturn && e.Observed.Volume.usable():
		return e.reprieve()
	case !operation.PointOfNoReturn && operation.JobName != "":
		e.out.Status.Operation.ID, e.out.Status.Operation.JobName = e.NewID, ""
		e.out.Code = CodeVolumeInUse
		return true
	case e.endPod():
		return true
	default:
		return e.wait(CodeVolumeInUse, e.Now.Add(restartPace))
	}
}

// reprieve makes a volume the home again that was about to be deleted, and is not yet. The archive
// that was to replace it is not good any more, or somebody writes on the volume.
func (e *evaluation) reprieve() bool {
	s := &e.out.Status
	if s.Volume.Content = e.Observed.Volume.Marker.Content; s.Volume.Content == "" {
		s.Volume.Content = Restored // whoever took the marker off: it was a home
	}
	if s.Volume.Epoch > 0 || e.Observed.OtherPods > 0 { // at 0 there need not even be a folder for the home
		s.Volume.Epoch++
	}
	if s.Operation.Type == Archiving {
		s.Operation.PointOfNoReturn = false
		s.Operation.ID, s.Operation.JobName = e.NewID, ""
	}
	e.out.Code = CodeVolumeReprieved
	return true
}

// archiveComplete ends ARCHIVING when the volume is gone and the archive is still good (D5).
func (e *evaluation) archiveComplete() bool {
	if !e.Status.Operation.PointOfNoReturn || e.volumeThere() || len(e.Observed.Jobs) > 0 {
		return false
	}
	verdict, known := e.verdict(e.Status.ArchiveKey)
	switch _, away := verdict.storeAway(); {
	case !known:
		return true
	case away, !e.goodArchive():
		return false
	}
	e.out.Status.Volume = Volume{}
	return e.finish(Pending)
}

// archiveLost judges an ARCHIVING whose volume is gone: too early, or with its archive (D5).
func (e *evaluation) archiveLost() bool {
	operation := e.Status.Operation
	if e.volumeThere() || e.before(operation.NextRetryAt) {
		return false
	}
	if e.endJobs() {
		return true
	}
	key := e.key()
	if operation.PointOfNoReturn {
		key = e.Status.ArchiveKey
	}
	verdict, decided := e.judge(key)
	switch {
	case decided:
		return true
	case operation.PointOfNoReturn:
		return e.fail(DataLost, lossOf(verdict))
	case verdict == Verified && e.current(e.Archive.Archive):
		return e.record()
	default:
		return e.fail(DataLost, CodeVolumeLost)
	}
}

// volumeThere reports whether the volume that is to be archived still exists.
func (e *evaluation) volumeThere() bool {
	volume := e.Observed.Volume
	return volume.own() && volume.UID == e.Status.Volume.UID && volume.State != VolumeLost
}
