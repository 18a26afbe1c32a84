package lifecycle

import "time"

// provision creates an empty volume and marks it (W19). The volume need not be bound (D19).
func (e *evaluation) provision() bool {
	if e.makeVolume() {
		return true
	}
	volume := e.Observed.Volume
	return e.act(CodeWorking, Action{
		Kind: ActMarkVolume, UID: volume.UID, Marker: Marker{Content: Empty, OperationID: e.Status.Operation.ID},
	})
}

// makeVolume creates the volume of this operation and removes others, and one whose class or size is no longer asked for (W74).
// It reports false once the volume is usable.
func (e *evaluation) makeVolume() bool {
	switch volume := e.Observed.Volume; {
	case volume.State == VolumeAbsent:
		return e.act(CodeVolumeAbsent, Action{Kind: ActCreateVolume, OperationID: e.Status.Operation.ID})
	case volume.Foreign:
		return e.wait(CodeVolumeForeign, time.Time{})
	case volume.State == VolumeTerminating:
		return e.wait(CodeVolumeTerminating, time.Time{})
	case volume.OperationID != e.Status.Operation.ID || volume.State == VolumeLost || volume.Outdated:
		return e.discard()
	case volume.State == VolumePending:
		return e.wait(CodeVolumePending, time.Time{})
	default:
		return false
	}
}

// restore restores the home from its archive (W20): a volume of this operation, recorded without content; a Job; and after
// the Job succeeded a marker with the volume's UID and the operation's id (D1).
func (e *evaluation) restore() bool {
	if volume := e.Observed.Volume; volume.own() && (volume.State == VolumeTerminating || volume.State == VolumeLost) {
		return e.discard() // nothing may use it any longer
	}
	if e.restored() {
		return e.endJobs()
	}
	if job, found := e.job(); found {
		switch {
		case job.State == JobSucceeded:
			return e.act(CodeWorking, Action{Kind: ActMarkVolume, UID: e.Observed.Volume.UID, Marker: e.restoredMarker()})
		case e.Observed.Volume.Outdated:
			return e.discard()
		}
		return e.awaitMover(job, e.Status.ArchiveKey)
	}
	verdict, decided := e.requireVerdict(e.Status.ArchiveKey)
	if decided {
		return true
	}
	if verdict != Verified {
		return e.fail(DataLost, lossOf(verdict))
	}
	if e.makeVolume() {
		return true
	}
	if uid := e.Observed.Volume.UID; e.Status.Volume.UID != uid {
		e.out.Status.Volume = Volume{UID: uid, Content: Uninitialized, RestoredFrom: e.Status.ArchiveKey}
		e.out.Code = CodeWorking
		return true
	}
	if e.Observed.OtherPods > 0 {
		return e.wait(CodeVolumeInUse, e.Now.Add(restartPace))
	}
	return e.endPod() || e.runJob(e.Status.ArchiveKey)
}

// restored reports whether the volume is marked as restored by this operation.
func (e *evaluation) restored() bool {
	volume := e.Observed.Volume
	return volume.usable() && volume.UID == e.Status.Volume.UID && volume.Marker == e.restoredMarker()
}

// restoredMarker is what this operation writes to the volume after the Job succeeded.
func (e *evaluation) restoredMarker() Marker {
	return Marker{Content: Restored, RestoredFrom: e.Status.ArchiveKey, OperationID: e.Status.Operation.ID}
}

// lossOf returns the code for an archive that cannot be restored.
func lossOf(verdict Verdict) Code {
	if verdict == Corrupt {
		return CodeArchiveCorrupt
	}
	return CodeArchiveLost
}

// discard deletes a volume that is not a home. If its home was archived, it is deleted only if the archive is still good;
// otherwise it is the home again.
func (e *evaluation) discard() bool {
	volume := e.Observed.Volume
	if e.endJobs() || e.endPod() {
		return true
	}
	switch {
	case volume.State == VolumeTerminating:
		return e.wait(CodeVolumeTerminating, time.Time{})
	case e.op() != None && e.unrecorded():
		return e.fail(Mismatch, CodeVolumeUnknown) // it may be a home
	case e.Observed.OtherPods > 0:
		return e.wait(CodeVolumeInUse, e.Now.Add(restartPace))
	case e.Status.archived() && e.Status.Archive.VolumeUID == volume.UID:
		verdict, known := e.verdict(e.Status.ArchiveKey)
		if !known {
			return true
		}
		if code, away := verdict.unavailable(); away {
			return e.wait(code, e.Now.Add(retryPace))
		}
		if !e.goodArchive() && volume.usable() {
			return e.reprieve()
		}
	}
	return e.act(CodeVolumeWaste, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
}
