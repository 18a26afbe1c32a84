package lifecycle

import "time"

// archive archives the home (W23, W25-W29): nothing uses the volume; a Job uploads the home; the archive is verified; the Job
// and its Pods are deleted; one write records the archive and that the volume is no longer the home; the archive is verified
// again; the volume is deleted.
func (e *evaluation) archive() bool {
	operation := e.Status.Operation
	if e.Observed.Pod.own() || e.Observed.OtherPods > 0 {
		return e.interrupted()
	}
	if operation.PointOfNoReturn {
		return e.endJobs() || e.deleteArchived() // a delayed manager may have created the Job again
	}
	job, found := e.job()
	if found && job.State == JobRunning {
		return e.awaitMover(job, e.key())
	}
	verdict, decided := e.requireVerdict(e.key())
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

// record records the verified archive. From then on the archive is the home (D4).
func (e *evaluation) record() bool {
	s := &e.out.Status
	s.ArchiveKey, s.Archive = e.key(), e.Archive.Archive
	s.Archive.Store = e.Archive.Store
	s.Volume.Content = Uninitialized
	s.Operation.PointOfNoReturn = true
	e.out.Code = CodeArchiveReady
	return true
}

// current reports whether a was made from the recorded volume in its current epoch (D2).
func (e *evaluation) current(a Archive) bool {
	return a.VolumeUID == e.Status.Volume.UID && a.Epoch == e.Status.Volume.Epoch
}

// goodArchive reports whether the recorded archive was verified in this pass.
func (e *evaluation) goodArchive() bool {
	return e.Archive.Key == e.Status.ArchiveKey && e.Archive.Verdict == Verified &&
		e.Archive.Archive.SHA256 == e.Status.Archive.SHA256 && e.Archive.Archive.Size == e.Status.Archive.Size
}

// deleteArchived deletes the volume after the archive was verified again (D4).
func (e *evaluation) deleteArchived() bool {
	volume := e.Observed.Volume
	if volume.State == VolumeTerminating {
		return e.wait(CodeVolumeTerminating, time.Time{})
	}
	if _, decided := e.requireVerdict(e.Status.ArchiveKey); decided {
		return true
	}
	if !e.goodArchive() || !e.current(e.Status.Archive) || e.home() {
		return e.reprieve()
	}
	return e.act(CodeWorking, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
}

// interrupted handles Pods that use the volume. An upload made meanwhile may be inconsistent or miss their writes, so it is
// discarded together with the operation's id (D3).
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

// reprieve makes a volume that is about to be deleted the home again: its archive is no longer good, or a Pod writes to the
// volume.
func (e *evaluation) reprieve() bool {
	s := &e.out.Status
	if s.Volume.Content = e.Observed.Volume.Marker.content(); s.Volume.Content == "" {
		s.Volume.Content = Restored // the marker was removed: it was a home
	}
	if s.Volume.Epoch > 0 || e.Observed.OtherPods > 0 { // at 0 there may not even be a folder for the home
		s.Volume.Epoch++
	}
	if s.Operation.Type == Archiving {
		s.Operation.PointOfNoReturn = false
		s.Operation.ID, s.Operation.JobName = e.NewID, ""
		s.Operation.NextRetryAt = e.Now // it needs a mover again, and so a slot
	}
	e.out.Code = CodeVolumeReprieved
	return true
}

// archiveComplete finishes ARCHIVING when the volume is gone and the archive is still good (D5).
func (e *evaluation) archiveComplete() bool {
	if !e.Status.Operation.PointOfNoReturn || e.volumeThere() || len(e.Observed.Jobs) > 0 {
		return false
	}
	verdict, known := e.verdict(e.Status.ArchiveKey)
	switch _, away := verdict.unavailable(); {
	case !known:
		return true
	case away, !e.goodArchive():
		return false
	}
	e.out.Status.Volume = Volume{}
	return e.finish(Pending)
}

// archiveLost handles an ARCHIVING whose volume disappeared too early, or whose archive did (D5).
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
	verdict, decided := e.requireVerdict(key)
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

// volumeThere reports whether the volume to archive still exists.
func (e *evaluation) volumeThere() bool {
	volume := e.Observed.Volume
	return volume.own() && volume.UID == e.Status.Volume.UID && volume.State != VolumeLost
}
