package lifecycle

import "time"

// provision makes an empty volume and marks it (W19). It needs not be bound (D19).
func (e *evaluation) provision() bool {
	if e.makeVolume() {
		return true
	}
	volume := e.Observed.Volume
	return e.act(CodeWorking, Action{
		Kind: ActMarkVolume, UID: volume.UID, Marker: Marker{Content: Empty, OperationID: e.Status.Operation.ID},
	})
}

// makeVolume makes the volume of this operation, and puts others out of its way. It reports false when
// the volume is there and usable.
func (e *evaluation) makeVolume() bool {
	switch volume := e.Observed.Volume; {
	case volume.State == VolumeAbsent:
		return e.act(CodeVolumeAbsent, Action{Kind: ActCreateVolume, OperationID: e.Status.Operation.ID})
	case volume.Foreign:
		return e.wait(CodeVolumeForeign, time.Time{})
	case volume.State == VolumeTerminating:
		return e.wait(CodeVolumeTerminating, time.Time{})
	case volume.OperationID != e.Status.Operation.ID || volume.State == VolumeLost:
		return e.discard()
	case volume.State == VolumePending:
		return e.wait(CodeVolumePending, time.Time{})
	default:
		return false
	}
}

// restore fetches the home from its archive (W20): a volume of this operation, recorded as not yet a home;
// a Job; and after its success the marker, which is bound to the volume's UID and to this claim (D1).
func (e *evaluation) restore() bool {
	if volume := e.Observed.Volume; volume.own() && (volume.State == VolumeTerminating || volume.State == VolumeLost) {
		return e.discard() // nothing may hold it any longer
	}
	if e.restored() {
		return e.endJobs()
	}
	if job, found := e.job(); found {
		if job.State == JobSucceeded {
			return e.act(CodeWorking, Action{Kind: ActMarkVolume, UID: e.Observed.Volume.UID, Marker: e.restoredMarker()})
		}
		return e.wait(CodeWorking, time.Time{})
	}
	verdict, decided := e.judge(e.Status.ArchiveKey)
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

// restored reports whether the volume is marked as restored by this very operation.
func (e *evaluation) restored() bool {
	volume := e.Observed.Volume
	return volume.usable() && volume.UID == e.Status.Volume.UID && volume.Marker == e.restoredMarker()
}

// restoredMarker is what this claim writes on the volume after the Job's success.
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

// discard deletes a volume that is no home. One whose home went into the archive goes only if the
// archive is still good; else it is the home again.
func (e *evaluation) discard() bool {
	volume := e.Observed.Volume
	if e.endJobs() || e.endPod() {
		return true
	}
	switch {
	case volume.State == VolumeTerminating:
		return e.wait(CodeVolumeTerminating, time.Time{})
	case e.op() != None && e.unrecorded():
		return e.fail(Mismatch, CodeVolumeUnknown) // somebody's home, for all that is known
	case e.Observed.OtherPods > 0:
		return e.wait(CodeVolumeInUse, e.Now.Add(restartPace))
	case e.Status.archived() && e.Status.Archive.VolumeUID == volume.UID:
		verdict, known := e.verdict(e.Status.ArchiveKey)
		if !known {
			return true
		}
		if code, away := verdict.storeAway(); away {
			return e.wait(code, e.Now.Add(retryPace))
		}
		if !e.goodArchive() && volume.usable() {
			return e.reprieve()
		}
	}
	return e.act(CodeVolumeWaste, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
}
