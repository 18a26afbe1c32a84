package lifecycle

// Truth is the status of a condition.
type Truth string

// The statuses of conditions.
const (
	True         Truth = "True"
	False        Truth = "False"
	Undetermined Truth = "Unknown"
)

// Condition is the status and the reason of one condition.
type Condition struct {
	Status Truth
	Reason Code
}

// Conditions are the conditions of a Workspace.
type Conditions struct {
	Ready, VolumeReady, PodReady, ArchiveReady, Progressing, Stalled Condition
}

// conditions summarizes the observation and the decision.
func (e *evaluation) conditions() Conditions {
	s, code := e.out.Status, e.out.Code
	c := Conditions{
		VolumeReady:  truth(e.home() && e.Observed.Volume.usable(), CodeVolumeReady, e.volumeCode()),
		PodReady:     truth(e.Observed.Pod.own() && e.Observed.Pod.State == PodReady, CodePodReady, e.podCode()),
		ArchiveReady: archiveReady(s),
		Progressing:  truth(s.Operation.Type != None || e.out.Act.Kind != ActNone, code, code),
		Stalled:      truth(s.Phase == Failed || e.slow, s.Error.Code, CodeConverged),
	}
	if e.slow {
		c.Stalled.Reason = CodeDeletionSlow
	}
	if e.held {
		c.Stalled = Condition{True, code}
	}
	converged := s.Operation.Type == None && s.Phase == e.desired()
	c.Ready = truth(converged && (s.Phase != Running || e.Observed.Pod.State == PodReady), CodeConverged, code)
	if s.Phase == Failed || s.Operation.Failing() && s.Error.Operation == s.Operation.Type && s.Error.Code != "" {
		c.Ready.Reason = s.Error.Code // until it succeeds (W71)
	}
	if e.searched {
		c.Ready = Condition{False, code}
		c.Progressing = c.Ready
		if !s.archived() {
			c.ArchiveReady = Condition{Undetermined, code}
			if code == CodeArchiveNotFound || code == CodeArchiveForeign {
				c.ArchiveReady.Status = False
			}
		}
	}
	if e.Observed.Failed {
		unread := Condition{Undetermined, CodeObservationFailed}
		c.Ready, c.VolumeReady, c.PodReady = unread, unread, unread
	}
	return c
}

// archiveReady is about the recorded archive, not about one that is being made.
func archiveReady(s Status) Condition {
	if s.archived() && s.Error.Reason == DataLost && (s.Error.Code == CodeArchiveLost || s.Error.Code == CodeArchiveCorrupt) {
		return Condition{False, s.Error.Code}
	}
	return truth(s.archived(), CodeArchiveReady, CodeNoArchive)
}

// truth returns True with one code or False with another.
func truth(is bool, yes, no Code) Condition {
	if is {
		return Condition{True, yes}
	}
	return Condition{False, no}
}

func (e *evaluation) volumeCode() Code {
	switch volume := e.Observed.Volume; {
	case volume.State == VolumeAbsent && e.Status.Volume.holds():
		return CodeVolumeLost
	case volume.State == VolumeAbsent:
		return CodeVolumeAbsent
	case volume.Foreign:
		return CodeVolumeForeign
	case volume.State == VolumeTerminating:
		return CodeVolumeTerminating
	case volume.State == VolumePending:
		return CodeVolumePending
	case volume.State == VolumeLost:
		return CodeVolumeLost
	default:
		return CodeVolumeWaste
	}
}

func (e *evaluation) podCode() Code {
	switch pod := e.Observed.Pod; {
	case pod.State == PodAbsent:
		return CodePodGone
	case pod.Foreign:
		return CodePodForeign
	case pod.State == PodEnded:
		return CodePodEnded
	default:
		return CodePodNotReady
	}
}
