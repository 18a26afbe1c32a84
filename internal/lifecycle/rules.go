package lifecycle

import "time"

func (l *look) unseen() bool {
	if !l.Seen.Failed {
		return false
	}
	return l.wait(WordObservationFailed, l.Now.Add(retryPace))
}

func (l *look) protect() bool {
	if l.Workspace.Deleting || l.Workspace.Finalizer {
		return false
	}
	return l.act(WordWorking, Action{Kind: ActAddFinalizer})
}

func (l *look) pause() bool {
	if !l.Workspace.Pause {
		return false
	}
	if l.op() == None && l.Status.Phase != Failed && (l.Status.archived() || !l.adopt()) {
		l.observe()
	}
	l.out.Word = WordPaused
	return true
}

// stalled holds a Workspace in ERROR, and finds the ways out (D8). What is recorded of volume and
// archive stays: the next look judges it again.
func (l *look) stalled() bool {
	if l.Status.Phase != Failed {
		return false
	}
	failure := l.Status.Error
	probe := failure.OccurredAt.Add(Probe)
	switch token := l.Workspace.RetryToken; {
	case l.lossAccepted():
		if l.Workspace.AcceptedLoss == l.Status.ArchiveKey {
			l.out.Status.ArchiveKey, l.out.Status.Archive = "", Archive{}
			if !l.Status.Volume.holds() { // a condemned one can be adopted again
				l.out.Status.Volume = Volume{}
			}
		}
		return l.recover(WordLossAccepted)
	case failure.Reason == DataLost && failure.Operation == Archiving && l.home() && l.desired() != Pending:
		// The volume is there, and its folder is not: a start would make an empty home. Only ARCHIVING looks.
		return l.wait(WordStalled, time.Time{})
	case l.Status.ObservedGeneration != l.Workspace.Generation, token != "" && token != l.Status.RetryToken:
		return l.recover(WordRecovered)
	case failure.Reason == Unreachable && !l.before(probe):
		return l.recover(WordRecovered)
	case failure.Reason == Unreachable:
		return l.wait(WordStalled, probe)
	default:
		return l.wait(WordStalled, time.Time{})
	}
}

// lossAccepted reports whether a person accepted the very loss that led to ERROR, or gives up what is elsewhere.
func (l *look) lossAccepted() bool {
	accepted, failure := l.Workspace.AcceptedLoss, l.Status.Error
	switch {
	case accepted == "" || failure.Reason != DataLost && failure.Word != WordArchiveElsewhere:
		return false
	case failure.Word == WordArchiveLost, failure.Word == WordArchiveCorrupt, failure.Word == WordArchiveElsewhere:
		return accepted == l.Status.ArchiveKey
	default:
		return accepted == l.Status.Volume.UID && l.homeLost()
	}
}

// recover leaves ERROR for the state that is seen.
func (l *look) recover(word Word) bool {
	s := &l.out.Status
	s.Phase, s.PreviousPhase = l.state(), ""
	s.Error, s.RetryToken = Failure{}, l.Workspace.RetryToken
	s.Restarts, s.NextStartAt = 0, time.Time{}
	l.out.Word = word
	return true
}

func (l *look) lost() bool {
	if !l.homeLost() {
		return false
	}
	if l.Workspace.AcceptedLoss == l.Status.Volume.UID {
		l.out.Status.Volume = Volume{}
		l.out.Word = WordLossAccepted
		return true
	}
	return l.stall(DataLost, WordVolumeLost)
}

func (l *look) strays() bool { return l.endJobs() }

// adopt takes over a volume whose marker says that it is a home, after a record was lost (W3). Beside
// an archive it cannot know which of the two is newer.
func (l *look) adopt() bool {
	volume := l.Seen.Volume
	l.out.Word = WordAdopted
	switch {
	case !l.unrecorded():
		return false
	case l.Status.Volume.UID == volume.UID: // the record knows the volume, and has lost what it holds
		l.out.Status.Volume.Content = volume.Marker.Content
		return true
	case l.Status.archived():
		return volume.State != VolumeTerminating && l.stall(Mismatch, WordVolumeUnknown)
	}
	l.out.Status.Volume = Volume{UID: volume.UID, Content: volume.Marker.Content, RestoredFrom: volume.Marker.RestoredFrom}
	return true
}

// unrecorded reports whether a volume of ours holds a home that no record tells of. One whose home went
// into the recorded archive, and on which nothing was started since, holds none any more.
func (l *look) unrecorded() bool {
	volume, record := l.Seen.Volume, l.Status.Volume
	return volume.own() && volume.Marker.Content != "" && volume.State != VolumeLost &&
		(record.UID != volume.UID || !record.holds() && !l.current(l.Status.Archive))
}

// observe writes the level that is seen, and since when (W31). The status is a cache (W3).
func (l *look) observe() bool {
	s, state := &l.out.Status, l.state()
	if s.Volume.UID != "" && !s.Volume.holds() && (!l.Seen.Volume.own() || l.Seen.Volume.UID != s.Volume.UID) {
		s.Volume = Volume{} // waste that is gone
	}
	if state != s.Phase {
		if s.Phase == Running && state == Standby && l.desired() == Running {
			l.restartLater()
		}
		l.enter(state)
	}
	l.out.Word = WordObserved
	return *s != l.Status && (state != l.Status.Phase || s.Volume != l.Status.Volume)
}

// enter records a level and since when.
func (l *look) enter(state State) {
	s := &l.out.Status
	s.Phase = state
	s.RunningSince, s.StandbySince = time.Time{}, time.Time{}
	switch state {
	case Running:
		s.RunningSince = l.Now
	case Standby:
		s.StandbySince = l.Now
	}
}

// restartLater holds the next start back if the Pod did not live long (D16).
func (l *look) restartLater() {
	s := &l.out.Status
	if l.Now.Sub(s.RunningSince) >= healthy {
		s.Restarts, s.NextStartAt = 0, time.Time{}
		return
	}
	s.Restarts++
	s.NextStartAt = l.Now.Add(backoff(restartPace, restartCap, s.Restarts))
}

// hold leaves a Pod alone whose end would take the home with it, until the loss is accepted.
func (l *look) hold() bool {
	return l.dying() && l.wait(WordVolumeTerminating, time.Time{})
}

// dying reports whether somebody deletes the home's volume, and its loss is not accepted.
func (l *look) dying() bool {
	volume := l.Seen.Volume
	return (l.home() || l.unrecorded()) && volume.State == VolumeTerminating && l.Workspace.AcceptedLoss != volume.UID
}

func (l *look) waste() bool {
	if !l.Seen.Volume.own() || l.home() {
		return false
	}
	return l.discard()
}

func (l *look) converged() bool {
	if l.Status.Phase != l.desired() {
		return false
	}
	if l.Status.Phase == Running && l.Seen.Pod.State != PodReady {
		return l.wait(WordPodNotReady, time.Time{})
	}
	return l.wait(WordConverged, time.Time{})
}
