package lifecycle

// Truth is the status of a condition.
type Truth string

// The statuses of conditions.
const (
	True       Truth = "True"
	False      Truth = "False"
	NotSettled Truth = "Unknown"
)

// Condition is one condition, its reason as a word.
type Condition struct {
	Status Truth
	Reason Word
}

// Conditions are what is told of a Workspace.
type Conditions struct {
	Ready, VolumeReady, PodReady, ArchiveReady, Progressing, Stalled Condition
}

// conditions sums up what was seen and decided.
func (l *look) conditions() Conditions {
	s, word := l.out.Status, l.out.Word
	c := Conditions{
		VolumeReady:  truth(l.home() && l.Seen.Volume.usable(), WordVolumeReady, l.volumeWord()),
		PodReady:     truth(l.Seen.Pod.own() && l.Seen.Pod.State == PodReady, WordPodReady, l.podWord()),
		ArchiveReady: archiveReady(s),
		Progressing:  truth(s.Operation.Type != None || l.out.Act.Kind != ActNone, word, word),
		Stalled:      truth(s.Phase == Failed || l.slow, s.Error.Word, WordConverged),
	}
	if l.slow {
		c.Stalled.Reason = WordDeletionSlow
	}
	settled := s.Operation.Type == None && s.Phase == l.desired()
	c.Ready = truth(settled && (s.Phase != Running || l.Seen.Pod.State == PodReady), WordConverged, word)
	if s.Phase == Failed {
		c.Ready.Reason = s.Error.Word
	}
	if l.searched {
		c.Ready = Condition{False, word}
		c.Progressing = c.Ready
		if !s.archived() {
			c.ArchiveReady = Condition{NotSettled, word}
		}
	}
	if l.Seen.Failed {
		unread := Condition{NotSettled, WordObservationFailed}
		c.Ready, c.VolumeReady, c.PodReady = unread, unread, unread
	}
	return c
}

// archiveReady tells of the recorded archive. An error about one that is being made is none of its.
func archiveReady(s Status) Condition {
	if s.archived() && s.Error.Reason == DataLost && (s.Error.Word == WordArchiveLost || s.Error.Word == WordArchiveCorrupt) {
		return Condition{False, s.Error.Word}
	}
	return truth(s.archived(), WordArchiveReady, WordNoArchive)
}

// truth returns True for one word, or False for another.
func truth(is bool, yes, no Word) Condition {
	if is {
		return Condition{True, yes}
	}
	return Condition{False, no}
}

func (l *look) volumeWord() Word {
	switch volume := l.Seen.Volume; {
	case volume.State == VolumeAbsent && l.Status.Volume.holds():
		return WordVolumeLost
	case volume.State == VolumeAbsent:
		return WordVolumeAbsent
	case volume.Foreign:
		return WordVolumeForeign
	case volume.State == VolumeTerminating:
		return WordVolumeTerminating
	case volume.State == VolumePending:
		return WordVolumePending
	case volume.State == VolumeLost:
		return WordVolumeLost
	default:
		return WordVolumeWaste
	}
}

func (l *look) podWord() Word {
	switch pod := l.Seen.Pod; {
	case pod.State == PodAbsent:
		return WordPodGone
	case pod.Foreign:
		return WordPodForeign
	case pod.State == PodEnded:
		return WordPodEnded
	default:
		return WordPodNotReady
	}
}
