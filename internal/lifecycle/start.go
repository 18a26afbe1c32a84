package lifecycle

import (
	"fmt"
	"time"
)

func (e *evaluation) stop() bool {
	kept := e.home() && e.Observed.Volume.State != VolumeTerminating
	if !e.Observed.Pod.own() || kept && e.desired() == Running {
		return false
	}
	return e.startOperation(Stopping)
}

// startNext starts the operation of the table, if the limits allow it (W31, W32).
func (e *evaluation) startNext() bool {
	next := Next(e.Status.Phase, e.desired(), e.Status.archived())
	switch {
	case next == None:
		return e.wait(CodeConverged, time.Time{})
	case e.home() && !e.Observed.Volume.usable():
		return e.wait(CodeVolumeTerminating, time.Time{})
	case TraitOf(next).Job && !e.Workspace.HasStore:
		return e.wait(CodeArchiveNotConfigured, time.Time{})
	case TraitOf(next).Job && e.Limits.MoversFull:
		return e.wait(CodeMoversFull, e.Now.Add(retryPace))
	case next == Provisioning && e.Workspace.AcceptedLoss == "" && !e.isNew() && e.findArchive():
		return true
	case next == Starting && e.before(e.Status.NextStartAt):
		return e.wait(CodeRestartBackoff, e.Status.NextStartAt)
	case next == Starting && e.Limits.OwnerFull:
		return e.wait(CodeOwnerLimit, e.Now.Add(retryPace))
	case next == Starting && e.Limits.NamespaceFull:
		return e.wait(CodeNamespaceLimit, e.Now.Add(retryPace))
	case next == Starting && e.Limits.AllFull:
		return e.wait(CodeAllLimit, e.Now.Add(retryPace))
	case next == Starting:
		e.out.Status.Volume.Epoch++
	}
	return e.startOperation(next)
}

// startOperation starts an operation with a new id (W25, D2).
func (e *evaluation) startOperation(operation OperationType) bool {
	e.out.Status.Operation = Operation{
		Type: operation, ID: e.NewID, StartedAt: e.Now, Attempt: 1, AttemptStartedAt: e.Now,
	}
	e.out.Code = CodeClaimed
	return true
}

// finish ends the operation in the state that it leads to (W30).
func (e *evaluation) finish(state State) bool {
	s := &e.out.Status
	s.Operation, s.Error = Operation{Type: None}, Failure{}
	e.lookAgain()
	e.enter(state)
	if state == Standby && e.op() == Stopping {
		s.Restarts, s.NextStartAt = 0, time.Time{}
	}
	e.out.Code = CodeFinished
	return true
}

// ArchiveKey returns the key of the archive that an ARCHIVING makes (W26).
func ArchiveKey(workspaceUID, operationID string) string {
	return "archives/" + workspaceUID + "/" + operationID + "/home.tar.gz"
}

// JobName returns the name of the Job of an attempt: at most 63 characters for names of at most 50. After 99 attempts the names
// begin anew; the Job of the attempt before is gone by then.
func JobName(workspace, operationID string, attempt int32) string {
	return fmt.Sprintf("ws-%s-%.6s-%d", workspace, operationID, (attempt-1)%99+1)
}

// key returns the key of the archive that the current ARCHIVING makes.
func (e *evaluation) key() string { return ArchiveKey(e.Workspace.UID, e.Status.Operation.ID) }
