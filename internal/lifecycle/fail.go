package lifecycle

import "time"

// complete ends an operation that is seen to be complete. It stands before all that could fail it: an
// operation that ended while nobody looked has not timed out (D10).
func (l *look) complete() bool {
	volume, claim := l.Seen.Volume, l.Status.Operation
	switch claim.Type {
	case Provisioning:
		if volume.usable() && volume.Marker == (Marker{Content: Empty, OperationID: claim.ID}) {
			l.out.Status.Volume = Volume{UID: volume.UID, Content: Empty}
			return l.finish(Standby)
		}
	case Restoring:
		if l.restored() && len(l.Seen.Jobs) == 0 {
			l.out.Status.Volume.Content = Restored
			return l.finish(Standby)
		}
	case Starting:
		if pod := l.Seen.Pod; pod.own() && pod.State == PodReady && pod.OperationID == claim.ID && l.home() {
			return l.finish(Running)
		}
	case Stopping:
		if !l.Seen.Pod.own() {
			return l.finish(Standby)
		}
	case Archiving:
		return l.archiveComplete()
	}
	return false
}

// cancel ends ARCHIVING, if the home is wanted again (D12). What was uploaded is nobody's. A volume that
// somebody deletes goes with the mover that still keeps it: there the archive is made all the same.
func (l *look) cancel() bool {
	claim := l.Status.Operation
	if !trait(claim.Type).Cancel || claim.PointOfNoReturn || l.desired() == Pending || l.dying() || l.homeLost() {
		return false
	}
	if l.endJobs() {
		return true
	}
	l.out.Status.Operation = Claim{Type: None}
	l.out.Word = WordCancelled
	return true
}

// failed ends what the operation started, and then the operation: nothing of it may go on behind the
// back of the next one (D7).
func (l *look) failed() bool {
	claim := l.Status.Operation
	if claim.Failed == "" {
		return false
	}
	if l.endJobs() || claim.Type == Starting && !l.dying() && l.endPod() {
		return true
	}
	return l.stall(claim.Failed, l.Status.Error.Word)
}

// attempt counts the failure of an attempt, once.
func (l *look) attempt() bool {
	claim, waiting := l.Status.Operation, l.before(l.Status.Operation.NextRetryAt)
	if claim.Type == None {
		return false
	}
	if refused := l.Refused; refused.Reason != "" {
		if refused.Final {
			l.fail(refused.Reason, refused.Word)
			l.out.Status.Operation.Failed = refused.Reason
			return true
		}
		return l.fail(refused.Reason, refused.Word)
	}
	if job, found := l.job(); found && job.State == JobFailed {
		return l.jobFailed(job)
	}
	switch pod, volume := l.Seen.Pod, l.Seen.Volume; claim.Type {
	case Starting, Stopping:
		switch {
		case l.homeLost():
			return l.fail(DataLost, WordVolumeLost)
		case claim.Type == Stopping || waiting:
		case !l.home():
			return l.fail(Mismatch, WordVolumeWaste)
		case pod.Foreign && pod.State != PodAbsent:
			return l.fail(Mismatch, WordPodForeign)
		case pod.State == PodEnded && pod.OperationID == claim.ID && pod.Attempt == claim.Attempt:
			return l.fail(ActionFailed, WordPodEnded)
		}
	case Provisioning, Restoring:
		if !waiting && l.Status.Volume.holds() {
			return l.fail(Mismatch, WordVolumeUnknown)
		}
		if !waiting && volume.Foreign && volume.State != VolumeAbsent {
			return l.fail(Mismatch, WordVolumeForeign)
		}
	case Archiving:
		return l.archiveLost()
	}
	return false
}

// jobFailed counts the failure of a mover. One that found no archive to restore may have looked into another
// store than is named now.
func (l *look) jobFailed(job Job) bool {
	switch {
	case job.Reason == "":
		return l.fail(ActionFailed, job.Word)
	case job.Reason != DataLost || l.op() != Restoring:
		return l.fail(job.Reason, job.Word)
	}
	verdict, decided := l.judge(l.Status.ArchiveKey)
	switch {
	case decided:
		return true
	case verdict == Verified && job.Word == WordArchiveLost:
		return l.fail(ActionFailed, WordJobFailed)
	default:
		return l.fail(job.Reason, job.Word)
	}
}

// overdue counts a timeout. The time of one attempt begins when it does; one whose work is done has
// all the time to tidy up (D10).
func (l *look) overdue() bool {
	claim := l.Status.Operation
	if claim.Type == None {
		return false
	}
	if claim.AttemptStartedAt.Sub(l.Now) > retryCap { // the clock was set back: the attempt begins by the new one
		l.out.Status.Operation.AttemptStartedAt, l.out.Word = l.Now, WordWorking
		return true
	}
	deadline := claim.AttemptStartedAt.Add(l.limit(claim.Type))
	if job, found := l.job(); found && job.State == JobSucceeded || claim.Type == Restoring && l.restored() || !l.Now.After(deadline) {
		if deadline.After(l.Now) {
			l.wait("", deadline.Add(time.Second))
		}
		return false
	}
	return l.fail(Timeout, WordTimedOut)
}

// limit returns how long one attempt of o may take.
func (l *look) limit(o Operation) time.Duration {
	if limit := l.Workspace.Timeouts[o]; limit > 0 {
		return limit
	}
	return trait(o).Limit
}

// fail counts a failure, and plans the next attempt or none.
func (l *look) fail(reason Reason, word Word) bool {
	s := &l.out.Status
	claim := &s.Operation
	s.Error = Failure{Reason: reason, Operation: claim.Type, Word: word, OccurredAt: l.Now}
	count := claim.Failures.of(reason)
	*count++
	l.out.Word = word
	if *count > reason.MaxRetries() {
		claim.Failed = reason
		return true
	}
	claim.Attempt++
	claim.NextRetryAt = l.Now.Add(backoff(retryPace, retryCap, claim.Failures.total()))
	claim.AttemptStartedAt = claim.NextRetryAt
	if claim.Type == Archiving && !claim.PointOfNoReturn && reason == Mismatch {
		claim.ID = l.NewID // under the old key lies what cannot be used
	}
	claim.JobName = ""
	return true
}

// stall enters ERROR, without an operation (D8).
func (l *look) stall(reason Reason, word Word) bool {
	s := &l.out.Status
	s.Error = Failure{Reason: reason, Operation: l.op(), Word: word, OccurredAt: l.Now}
	s.PreviousPhase, s.Phase = s.Phase, Failed
	s.Operation = Claim{Type: None}
	s.RetryToken = l.Workspace.RetryToken
	l.out.Word = word
	return true
}
