package lifecycle

import "time"

// archive puts the home away (W23, W25-W29): nobody uses the volume; a Job uploads it; the store is
// asked whether the archive is whole; Job and Pods go; the archive is recorded, and the volume is no
// home any more, in one write; the store is asked again; the volume goes.
func (l *look) archive() bool {
	claim := l.Status.Operation
	if l.Seen.Pod.own() || l.Seen.OtherPods > 0 {
		return l.interrupted()
	}
	if claim.PointOfNoReturn {
		return l.endJobs() || l.deleteArchived() // a manager that was late can have made the Job once more
	}
	job, found := l.job()
	if found && job.State == JobRunning {
		return l.wait(WordWorking, time.Time{})
	}
	verdict, decided := l.judge(l.key())
	switch {
	case decided:
		return true
	case verdict == Absent && found:
		return l.fail(ActionFailed, WordArchiveLost)
	case verdict == Absent && l.Seen.Volume.State == VolumeTerminating:
		return l.wait(WordVolumeTerminating, time.Time{})
	case verdict == Absent:
		return l.runJob(l.key())
	case verdict == Corrupt || !l.current(l.Archive.Archive):
		return l.fail(Mismatch, WordArchiveCorrupt)
	case found:
		return l.endJob(job)
	default:
		return l.record()
	}
}

// record writes down the verified archive. From here on the archive is the home (D4).
func (l *look) record() bool {
	s := &l.out.Status
	s.ArchiveKey, s.Archive = l.key(), l.Archive.Archive
	s.Archive.Store = l.Archive.Store
	s.Volume.Content = Uninitialized
	s.Operation.PointOfNoReturn = true
	l.out.Word = WordArchiveReady
	return true
}

// current reports whether a was made of the recorded volume in its present epoch (D2).
func (l *look) current(a Archive) bool {
	return a.VolumeUID == l.Status.Volume.UID && a.Epoch == l.Status.Volume.Epoch
}

// goodArchive reports whether the recorded archive was verified in this look.
func (l *look) goodArchive() bool {
	return l.Archive.Key == l.Status.ArchiveKey && l.Archive.Verdict == Verified &&
		l.Archive.Archive.SHA256 == l.Status.Archive.SHA256 && l.Archive.Archive.Size == l.Status.Archive.Size
}

// deleteArchived deletes the volume after another look into the store (D4).
func (l *look) deleteArchived() bool {
	volume := l.Seen.Volume
	if volume.State == VolumeTerminating {
		return l.wait(WordVolumeTerminating, time.Time{})
	}
	if _, decided := l.judge(l.Status.ArchiveKey); decided {
		return true
	}
	if !l.goodArchive() || !l.current(l.Status.Archive) || l.home() {
		return l.reprieve()
	}
	return l.act(WordWorking, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
}

// interrupted deals with Pods that use the volume. What was uploaded meanwhile is void, and so is its
// id: it may be torn, or miss what they write (D3).
func (l *look) interrupted() bool {
	claim := l.Status.Operation
	switch {
	case claim.PointOfNoReturn && l.Seen.Volume.usable():
		return l.reprieve()
	case !claim.PointOfNoReturn && claim.JobName != "":
		l.out.Status.Operation.ID, l.out.Status.Operation.JobName = l.NewID, ""
		l.out.Word = WordVolumeInUse
		return true
	case l.endPod():
		return true
	default:
		return l.wait(WordVolumeInUse, l.Now.Add(restartPace))
	}
}

// reprieve makes a volume the home again that was about to be deleted, and is not yet. The archive
// that was to replace it is not good any more, or somebody writes on the volume.
func (l *look) reprieve() bool {
	s := &l.out.Status
	if s.Volume.Content = l.Seen.Volume.Marker.Content; s.Volume.Content == "" {
		s.Volume.Content = Restored // whoever took the marker off: it was a home
	}
	if s.Volume.Epoch > 0 || l.Seen.OtherPods > 0 { // at 0 there need not even be a folder for the home
		s.Volume.Epoch++
	}
	if s.Operation.Type == Archiving {
		s.Operation.PointOfNoReturn = false
		s.Operation.ID, s.Operation.JobName = l.NewID, ""
	}
	l.out.Word = WordVolumeReprieved
	return true
}

// archiveComplete ends ARCHIVING when the volume is gone and the archive is still good (D5).
func (l *look) archiveComplete() bool {
	if !l.Status.Operation.PointOfNoReturn || l.volumeThere() || len(l.Seen.Jobs) > 0 {
		return false
	}
	verdict, known := l.verdict(l.Status.ArchiveKey)
	switch _, away := verdict.storeAway(); {
	case !known:
		return true
	case away, !l.goodArchive():
		return false
	}
	l.out.Status.Volume = Volume{}
	return l.finish(Pending)
}

// archiveLost judges an ARCHIVING whose volume is gone: too early, or with its archive (D5).
func (l *look) archiveLost() bool {
	claim := l.Status.Operation
	if l.volumeThere() || l.before(claim.NextRetryAt) {
		return false
	}
	if l.endJobs() {
		return true
	}
	key := l.key()
	if claim.PointOfNoReturn {
		key = l.Status.ArchiveKey
	}
	verdict, decided := l.judge(key)
	switch {
	case decided:
		return true
	case claim.PointOfNoReturn:
		return l.fail(DataLost, lossOf(verdict))
	case verdict == Verified && l.current(l.Archive.Archive):
		return l.record()
	default:
		return l.fail(DataLost, WordVolumeLost)
	}
}

// volumeThere reports whether the volume that is to be archived still exists.
func (l *look) volumeThere() bool {
	volume := l.Seen.Volume
	return volume.own() && volume.UID == l.Status.Volume.UID && volume.State != VolumeLost
}
