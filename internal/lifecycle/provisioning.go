package lifecycle

import "time"

// provision makes an empty volume and marks it (W19). It needs not be bound (D19).
func (l *look) provision() bool {
	if l.makeVolume() {
		return true
	}
	volume := l.Seen.Volume
	return l.act(WordWorking, Action{
		Kind: ActMarkVolume, UID: volume.UID, Marker: Marker{Content: Empty, OperationID: l.Status.Operation.ID},
	})
}

// makeVolume makes the volume of this claim, and puts others out of its way. It reports false when
// the volume is there and usable.
func (l *look) makeVolume() bool {
	switch volume := l.Seen.Volume; {
	case volume.State == VolumeAbsent:
		return l.act(WordVolumeAbsent, Action{Kind: ActCreateVolume, OperationID: l.Status.Operation.ID})
	case volume.Foreign:
		return l.wait(WordVolumeForeign, time.Time{})
	case volume.State == VolumeTerminating:
		return l.wait(WordVolumeTerminating, time.Time{})
	case volume.OperationID != l.Status.Operation.ID || volume.State == VolumeLost:
		return l.discard()
	case volume.State == VolumePending:
		return l.wait(WordVolumePending, time.Time{})
	default:
		return false
	}
}

// restore fetches the home from its archive (W20): a volume of this claim, recorded as not yet a home;
// a Job; and after its success the marker, which is bound to the volume's UID and to this claim (D1).
func (l *look) restore() bool {
	if volume := l.Seen.Volume; volume.own() && (volume.State == VolumeTerminating || volume.State == VolumeLost) {
		return l.discard() // nothing may hold it any longer
	}
	if l.restored() {
		return l.endJobs()
	}
	if job, found := l.job(); found {
		if job.State == JobSucceeded {
			return l.act(WordWorking, Action{Kind: ActMarkVolume, UID: l.Seen.Volume.UID, Marker: l.restoredMarker()})
		}
		return l.wait(WordWorking, time.Time{})
	}
	verdict, decided := l.judge(l.Status.ArchiveKey)
	if decided {
		return true
	}
	if verdict != Verified {
		return l.fail(DataLost, lossOf(verdict))
	}
	if l.makeVolume() {
		return true
	}
	if uid := l.Seen.Volume.UID; l.Status.Volume.UID != uid {
		l.out.Status.Volume = Volume{UID: uid, Content: Uninitialized, RestoredFrom: l.Status.ArchiveKey}
		l.out.Word = WordWorking
		return true
	}
	if l.Seen.OtherPods > 0 {
		return l.wait(WordVolumeInUse, l.Now.Add(restartPace))
	}
	return l.endPod() || l.runJob(l.Status.ArchiveKey)
}

// restored reports whether the volume is marked as restored by this very claim.
func (l *look) restored() bool {
	volume := l.Seen.Volume
	return volume.usable() && volume.UID == l.Status.Volume.UID && volume.Marker == l.restoredMarker()
}

// restoredMarker is what this claim writes on the volume after the Job's success.
func (l *look) restoredMarker() Marker {
	return Marker{Content: Restored, RestoredFrom: l.Status.ArchiveKey, OperationID: l.Status.Operation.ID}
}

// lossOf returns the word for an archive that cannot be restored.
func lossOf(verdict Verdict) Word {
	if verdict == Corrupt {
		return WordArchiveCorrupt
	}
	return WordArchiveLost
}

// discard deletes a volume that is no home. One whose home went into the archive goes only if the
// archive is still good; else it is the home again.
func (l *look) discard() bool {
	volume := l.Seen.Volume
	if l.endJobs() || l.endPod() {
		return true
	}
	switch {
	case volume.State == VolumeTerminating:
		return l.wait(WordVolumeTerminating, time.Time{})
	case l.op() != None && l.unrecorded():
		return l.fail(Mismatch, WordVolumeUnknown) // somebody's home, for all that is known
	case l.Seen.OtherPods > 0:
		return l.wait(WordVolumeInUse, l.Now.Add(restartPace))
	case l.Status.archived() && l.Status.Archive.VolumeUID == volume.UID:
		verdict, known := l.verdict(l.Status.ArchiveKey)
		if !known {
			return true
		}
		if word, away := verdict.storeAway(); away {
			return l.wait(word, l.Now.Add(retryPace))
		}
		if !l.goodArchive() && volume.usable() {
			return l.reprieve()
		}
	}
	return l.act(WordVolumeWaste, Action{Kind: ActDeleteVolume, UID: volume.UID, ResourceVersion: volume.ResourceVersion})
}
