package lifecycle

import "time"

// complete finishes an operation that is observed to be complete. It precedes everything that could fail the operation: one
// that completed between two passes has not timed out (D10).
func (e *evaluation) complete() bool {
	volume, operation := e.Observed.Volume, e.Status.Operation
	switch operation.Type {
	case Provisioning:
		if volume.usable() && volume.Marker == (Marker{Content: Empty, OperationID: operation.ID}) {
			e.out.Status.Volume = Volume{UID: volume.UID, Content: Empty}
			return e.finish(Standby)
		}
	case Restoring:
		if e.restored() && len(e.Observed.Jobs) == 0 {
			e.out.Status.Volume.Content = Restored
			return e.finish(Standby)
		}
	case Starting:
		if pod := e.Observed.Pod; pod.own() && pod.State == PodReady && pod.OperationID == operation.ID && e.home() {
			if e.Status.Volume.Content == Adopted { // its folder was there
				e.out.Status.Volume.Content = Restored
			}
			return e.finish(Running)
		}
	case Stopping:
		if !e.Observed.Pod.own() {
			return e.finish(Standby)
		}
	case Archiving:
		return e.archiveComplete()
	}
	return false
}

// cancel ends ARCHIVING if the home is wanted again, and an operation that leads up and has failed if its state is no longer
// desired (D12, W72), or in whose way is the volume that a person chose (W97). The upload is abandoned. If a user deletes the
// volume, only the mover keeps it, so the archive is made anyway.
func (e *evaluation) cancel() bool {
	operation, code := e.Status.Operation, CodeCancelled
	switch {
	case operation.PointOfNoReturn || operation.Failed != "" && e.leadsUp() || e.volumeTerminating() || e.homeLost():
		return false
	case TraitOf(operation.Type).Cancel && e.desired() != Pending:
	case e.making() && e.chosen() && (e.Observed.Volume.Foreign || e.Observed.Volume.OperationID != operation.ID):
		code = CodeWorking
	case e.leadsUp() && operation.Failing() && e.desired().Level() < TraitOf(operation.Type).To.Level() && !e.unrecorded():
	default:
		return false
	}
	if e.endJobs() || operation.Type == Starting && e.endPod() {
		return true
	}
	e.out.Status.Operation, e.out.Status.Error = Operation{Type: None}, Failure{}
	e.lookAgain()
	e.out.Code = code
	return true
}

// failed removes what the operation created and then ends it, so that nothing of it interferes with the next one (D7).
func (e *evaluation) failed() bool {
	operation := e.Status.Operation
	if operation.Failed == "" {
		return false
	}
	if e.endJobs() || operation.Type == Starting && !e.volumeTerminating() && e.endPod() {
		return true
	}
	return e.stall(operation.Failed, e.Status.Error.Code)
}

// attempt counts the failure of an attempt, once.
func (e *evaluation) attempt() bool {
	operation, waiting := e.Status.Operation, e.before(e.Status.Operation.NextRetryAt)
	if operation.Type == None {
		return false
	}
	if rejected := e.Rejected; rejected.Reason != "" {
		e.fail(rejected.Reason, rejected.Code)
		if next := &e.out.Status.Operation; rejected.Final && next.Failed == "" { // it takes another spec, which is tried at once
			next.NextRetryAt = e.Now.Add(retryCap)
			next.AttemptStartedAt = next.NextRetryAt
		}
		return true
	}
	if job, found := e.job(); found && job.State == JobFailed {
		return e.jobFailed(job)
	}
	switch pod, volume := e.Observed.Pod, e.Observed.Volume; operation.Type {
	case Starting, Stopping:
		switch {
		case e.homeLost():
			return e.fail(DataLost, CodeVolumeLost)
		case operation.Type == Stopping || waiting:
		case !e.home():
			return e.fail(Mismatch, CodeVolumeWaste)
		case pod.Foreign && pod.State != PodAbsent:
			return e.fail(Mismatch, CodePodForeign)
		case pod.OperationID != operation.ID || pod.Attempt != operation.Attempt:
		case pod.NoHome:
			return e.fail(DataLost, CodeVolumeLost)
		case pod.State == PodEnded:
			return e.fail(ActionFailed, CodePodEnded)
		}
	case Provisioning, Restoring:
		if !waiting && e.Status.Volume.holds() {
			return e.fail(Mismatch, CodeVolumeUnknown)
		}
		if !waiting && volume.Foreign && volume.State != VolumeAbsent {
			return e.fail(Mismatch, CodeVolumeForeign)
		}
	case Archiving:
		return e.archiveLost()
	}
	return false
}

// jobFailed counts the failure of a mover. If it found no archive to restore, the Secret may have named another store at the
// time.
func (e *evaluation) jobFailed(job Job) bool {
	switch {
	case job.Reason == "":
		return e.fail(ActionFailed, job.Code)
	case job.Reason != DataLost || e.op() != Restoring:
		return e.fail(job.Reason, job.Code)
	}
	verdict, decided := e.requireVerdict(e.Status.ArchiveKey)
	switch {
	case decided:
		return true
	case verdict == Verified && job.Code == CodeArchiveLost:
		return e.fail(ActionFailed, CodeJobFailed)
	default:
		return e.fail(job.Reason, job.Code)
	}
}

// overdue counts a timeout. The time limit starts with the attempt; an attempt whose work is done may take longer to clean up
// (D10).
func (e *evaluation) overdue() bool {
	operation := e.Status.Operation
	if operation.Type == None {
		return false
	}
	if operation.AttemptStartedAt.Sub(e.Now) > retryCap { // the clock was set back: the attempt starts now
		e.out.Status.Operation.AttemptStartedAt, e.out.Code = e.Now, CodeWorking
		return true
	}
	if operation.waitsForMover() {
		return false // it has not begun
	}
	deadline := operation.AttemptStartedAt.Add(e.limit(operation.Type))
	if job, found := e.job(); found && job.State == JobSucceeded || operation.Type == Restoring && e.restored() || !e.Now.After(deadline) {
		if deadline.After(e.Now) {
			e.wait("", deadline.Add(time.Second))
		}
		return false
	}
	return e.fail(Timeout, CodeTimedOut)
}

// limit returns the time limit of one attempt of o.
func (e *evaluation) limit(o OperationType) time.Duration {
	if limit := e.Workspace.Timeouts[o]; limit > 0 {
		return limit
	}
	return TraitOf(o).Limit
}

// fail counts a failure and schedules the next attempt, if one is left.
func (e *evaluation) fail(reason Reason, code Code) bool {
	s := &e.out.Status
	operation := &s.Operation
	s.Error = Failure{Reason: reason, Operation: operation.Type, Code: code, OccurredAt: e.Now}
	count := operation.Failures.of(reason)
	*count++
	e.out.Code = code
	s.RetryToken = e.Workspace.RetryToken // an earlier request is not about this failure
	if s.Error.final(*count) {
		operation.Failed = reason
		return true
	}
	operation.Attempt++
	operation.NextRetryAt = e.Now.Add(backoff(retryPace, retryCap, operation.Failures.total()))
	operation.AttemptStartedAt = operation.NextRetryAt
	if operation.Type == Archiving && !operation.PointOfNoReturn && reason == Mismatch {
		operation.ID = e.NewID // the archive under the old key is unusable
	}
	operation.JobName = ""
	return true
}

// stall enters ERROR and ends the operation (D8).
func (e *evaluation) stall(reason Reason, code Code) bool {
	s := &e.out.Status
	s.Error = Failure{Reason: reason, Operation: e.op(), Code: code, OccurredAt: e.Now}
	s.Phase, s.Operation = Failed, Operation{Type: None}
	s.RetryToken = e.Workspace.RetryToken
	e.out.Code = code
	return true
}
