package lifecycle

// adopt records a volume that a person chose, or whose marker says that it is a home, after its record was lost (W3). If there is
// an archive as well, it is unknown which one is newer, unless a person chose.
func (e *evaluation) adopt() bool {
	volume, chosen := e.Observed.Volume, e.chosen()
	e.out.Code = CodeAdopted
	switch {
	case chosen && (volume.Foreign || volume.Marker.content() != Adopted):
		switch {
		case e.Workspace.Pause:
			return false
		case e.Rejected.Reason != "":
			return e.wait(CodeNotAdopted, e.Now.Add(retryPace))
		}
		return e.act(CodeWorking, e.claim(chosen))
	case !e.unrecorded():
		return false
	case e.Status.Volume.UID == volume.UID: // the volume is recorded without its content
		e.out.Status.Volume.Content = volume.Marker.content()
		return true
	case e.Status.archived() && !chosen:
		return volume.State != VolumeTerminating && e.stall(Mismatch, CodeVolumeUnknown)
	}
	e.out.Status.Volume = Volume{UID: volume.UID, Content: volume.Marker.content(), RestoredFrom: volume.Marker.RestoredFrom}
	if chosen { // it was in use: no archive is newer, and it must have a folder for the home
		e.out.Status.Volume.Epoch = e.Status.Archive.Epoch + 1
		e.out.Status.RetryToken = e.Workspace.RetryToken
	}
	return true
}

// claim makes a volume the Workspace's own. What a chosen one holds came from elsewhere; only a marker says from which archive.
func (e *evaluation) claim(chosen bool) Action {
	marker := e.Observed.Volume.Marker
	if marker.Content == "" {
		marker.Content = Restored
	}
	marker.Adopted = marker.Adopted || chosen
	return Action{Kind: ActAdoptVolume, UID: e.Observed.Volume.UID, Marker: marker}
}

// chosen reports whether a person named the observed volume as the home, and it is not recorded (W78). A volume that was recorded
// is not chosen again: its home may have been archived since.
func (e *evaluation) chosen() bool {
	volume := e.Observed.Volume
	return volume.UID != "" && volume.UID == e.Workspace.Adopts && volume.UID != e.Status.Volume.UID && !volume.Controlled &&
		volume.State != VolumeTerminating && volume.State != VolumeLost
}

// asked reports whether a person named a volume that is neither recorded nor archived.
func (e *evaluation) asked() bool {
	uid := e.Workspace.Adopts
	return uid != "" && uid != e.Status.Volume.UID && uid != e.Status.Archive.VolumeUID
}

// decline says once why a volume that a person named is not adopted. Before, it is looked for: what was made by hand is in no
// cache.
func (e *evaluation) decline() bool {
	if !e.asked() || e.Workspace.RetryToken == e.given.RetryToken {
		return false
	}
	e.out.Status.RetryToken = e.Workspace.RetryToken
	e.out.Code = CodeNotAdopted
	return true
}

// lookAgain lets the next pass look for the chosen volume, whatever became of the request.
func (e *evaluation) lookAgain() {
	if e.chosen() {
		e.out.Status.RetryToken = ""
	}
}

// unrecorded reports whether the Workspace's volume holds a home that is not recorded. A volume whose home was archived, and
// on which nothing was started since, holds none, as long as the archive is recorded.
func (e *evaluation) unrecorded() bool {
	volume, record := e.Observed.Volume, e.Status.Volume
	return volume.own() && volume.Marker.Content != "" && volume.State != VolumeLost &&
		(record.UID != volume.UID || !record.holds() && (!e.Status.archived() || !e.current(e.Status.Archive)))
}
