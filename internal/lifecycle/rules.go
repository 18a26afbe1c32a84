package lifecycle

import "time"

func (e *evaluation) unread() bool {
	if !e.Observed.Failed {
		return false
	}
	return e.wait(CodeObservationFailed, e.Now.Add(retryPace))
}

func (e *evaluation) protect() bool {
	if e.Workspace.Deleting || e.Workspace.Finalizer {
		return false
	}
	return e.act(CodeWorking, Action{Kind: ActAddFinalizer})
}

func (e *evaluation) pause() bool {
	if !e.Workspace.Pause {
		return false
	}
	if e.op() == None && e.Status.Phase != Failed && (e.Status.archived() || !e.adopt()) {
		e.observe()
	}
	e.out.Code = CodePaused
	return true
}

// stalled holds a Workspace in ERROR and finds the ways out (D8). The recorded volume and archive stay: the next pass
// evaluates them again.
func (e *evaluation) stalled() bool {
	if e.Status.Phase != Failed {
		return false
	}
	failure := e.Status.Error
	probe := failure.OccurredAt.Add(Probe)
	switch token := e.Workspace.RetryToken; {
	case e.lossAccepted():
		if e.Workspace.AcceptedLoss == e.Status.ArchiveKey {
			e.out.Status.ArchiveKey, e.out.Status.Archive = "", Archive{}
			if !e.Status.Volume.holds() { // an archived one can be adopted again
				e.out.Status.Volume = Volume{}
			}
		}
		return e.recover(CodeLossAccepted)
	case e.chosen():
		return e.recover(CodeRecovered)
	case e.asked() && !e.Observed.Live: // the volume may be in no cache
		return e.act(CodeStalled, Action{Kind: ActReadLive})
	case failure.Reason == DataLost && failure.Operation == Archiving && e.home() && e.desired() != Pending && e.Status.Volume.Content != Adopted:
		// The volume exists without its folder: a start would create an empty home. Only ARCHIVING and the first start check it.
		return e.wait(CodeStalled, time.Time{})
	case e.Status.ObservedGeneration != e.Workspace.Generation, token != "" && token != e.Status.RetryToken:
		return e.recover(CodeRecovered)
	case failure.Probed() && !e.before(probe):
		return e.recover(CodeRecovered)
	case failure.Probed():
		return e.wait(CodeStalled, probe)
	default:
		return e.wait(CodeStalled, time.Time{})
	}
}

// lossAccepted reports whether a user accepted the loss that led to ERROR, or gave up an archive that is elsewhere or beside a home
// that is not recorded.
func (e *evaluation) lossAccepted() bool {
	accepted, failure := e.Workspace.AcceptedLoss, e.Status.Error
	switch {
	case accepted == "" || failure.Reason != DataLost && failure.Code != CodeArchiveElsewhere && failure.Code != CodeVolumeUnknown:
		return false
	case failure.Code == CodeArchiveLost, failure.Code == CodeArchiveCorrupt, failure.Code == CodeArchiveElsewhere, failure.Code == CodeVolumeUnknown:
		return accepted == e.Status.ArchiveKey
	default:
		return accepted == e.Status.Volume.UID && e.homeLost()
	}
}

// recover leaves ERROR for the observed state.
func (e *evaluation) recover(code Code) bool {
	s := &e.out.Status
	s.Phase = e.state()
	s.Error, s.RetryToken = Failure{}, e.Workspace.RetryToken
	s.Restarts, s.NextStartAt = 0, time.Time{}
	e.lookAgain()
	e.out.Code = code
	return true
}

func (e *evaluation) lost() bool {
	if !e.homeLost() || e.chosen() {
		return false
	}
	if e.Workspace.AcceptedLoss == e.Status.Volume.UID {
		e.out.Status.Volume = Volume{}
		e.out.Code = CodeLossAccepted
		return true
	}
	return e.stall(DataLost, CodeVolumeLost)
}

func (e *evaluation) strays() bool { return e.endJobs() }

// observe records the observed level and its beginning (W31). The status is a cache (W3).
func (e *evaluation) observe() bool {
	s, state := &e.out.Status, e.state()
	if s.Volume.UID != "" && !s.Volume.holds() && (!e.Observed.Volume.own() || e.Observed.Volume.UID != s.Volume.UID) {
		s.Volume = Volume{} // it is gone
	}
	if state != s.Phase {
		if s.Phase == Running && state == Standby && e.desired() == Running {
			e.restartLater()
		}
		e.enter(state)
	}
	e.out.Code = CodeObserved
	return *s != e.Status && (state != e.Status.Phase || s.Volume != e.Status.Volume)
}

// enter records a level and its beginning.
func (e *evaluation) enter(state State) {
	s := &e.out.Status
	s.Phase = state
	s.RunningSince, s.StandbySince = time.Time{}, time.Time{}
	switch state {
	case Running:
		s.RunningSince = e.Now
	case Standby:
		s.StandbySince = e.Now
	}
}

// restartLater delays the next start if the Pod ended soon after its start (D16).
func (e *evaluation) restartLater() {
	s := &e.out.Status
	if e.Now.Sub(s.RunningSince) >= healthy {
		s.Restarts, s.NextStartAt = 0, time.Time{}
		return
	}
	s.Restarts++
	s.NextStartAt = e.Now.Add(backoff(restartPace, restartCap, s.Restarts))
}

// hold leaves a Pod alone that is all that keeps the home, until the loss is accepted.
func (e *evaluation) hold() bool {
	return e.volumeTerminating() && e.wait(CodeVolumeTerminating, time.Time{})
}

// volumeTerminating reports whether a user deletes the home's volume and its loss is not accepted.
func (e *evaluation) volumeTerminating() bool {
	volume := e.Observed.Volume
	return (e.home() || e.unrecorded()) && volume.State == VolumeTerminating && e.Workspace.AcceptedLoss != volume.UID
}

func (e *evaluation) waste() bool {
	if !e.Observed.Volume.own() || e.home() {
		return false
	}
	return e.discard()
}

func (e *evaluation) converged() bool {
	if e.Status.Phase != e.desired() {
		return false
	}
	if e.Status.Phase == Running && e.Observed.Pod.State != PodReady {
		return e.wait(CodePodNotReady, time.Time{})
	}
	return e.wait(CodeConverged, time.Time{})
}
