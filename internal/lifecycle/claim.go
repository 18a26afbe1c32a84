package lifecycle

import (
	"fmt"
	"time"
)

func (l *look) stop() bool {
	kept := l.home() && l.Seen.Volume.State != VolumeTerminating
	if !l.Seen.Pod.own() || kept && l.desired() == Running {
		return false
	}
	return l.claim(Stopping)
}

// claimNext claims the operation of the table, if its limits allow it (W31, W32).
func (l *look) claimNext() bool {
	next := Next(l.Status.Phase, l.desired(), l.Status.archived())
	switch {
	case next == None:
		return l.wait(WordConverged, time.Time{})
	case l.home() && !l.Seen.Volume.usable():
		return l.wait(WordVolumeTerminating, time.Time{})
	case trait(next).Job && !l.Workspace.HasStore:
		return l.wait(WordArchiveNotConfigured, time.Time{})
	case trait(next).Job && l.Limits.MoversFull:
		return l.wait(WordMoversFull, l.Now.Add(retryPace))
	case next == Provisioning && l.Workspace.AcceptedLoss == "" && !l.isNew() && l.findArchive():
		return true
	case next == Starting && l.before(l.Status.NextStartAt):
		return l.wait(WordRestartBackoff, l.Status.NextStartAt)
	case next == Starting && l.Limits.OwnerFull:
		return l.wait(WordOwnerLimit, l.Now.Add(retryPace))
	case next == Starting && l.Limits.AllFull:
		return l.wait(WordAllLimit, l.Now.Add(retryPace))
	case next == Starting:
		l.out.Status.Volume.Epoch++
	}
	return l.claim(next)
}

// claim takes an operation, with an id that is its own (W25, D2).
func (l *look) claim(operation Operation) bool {
	l.out.Status.Operation = Claim{
		Type: operation, ID: l.NewID, StartedAt: l.Now, Attempt: 1, AttemptStartedAt: l.Now,
	}
	l.out.Word = WordClaimed
	return true
}

// finish ends the operation in the state that it leads to (W30).
func (l *look) finish(state State) bool {
	s := &l.out.Status
	s.Operation, s.Error = Claim{Type: None}, Failure{}
	l.enter(state)
	if state == Standby && l.op() == Stopping {
		s.Restarts, s.NextStartAt = 0, time.Time{}
	}
	l.out.Word = WordFinished
	return true
}

// ArchiveKey returns the key of the archive that one claim of ARCHIVING makes (W26).
func ArchiveKey(workspaceUID, operationID string) string {
	return "archives/" + workspaceUID + "/" + operationID + "/home.tar.gz"
}

// JobName returns the name of one attempt's Job: at most 63 characters for names of at most 50, and
// attempts below 100.
func JobName(workspace, operationID string, attempt int32) string {
	return fmt.Sprintf("ws-%s-%.6s-%d", workspace, operationID, attempt)
}

// key returns the key of the claimed ARCHIVING.
func (l *look) key() string { return ArchiveKey(l.Workspace.UID, l.Status.Operation.ID) }
